"""What holds for all tests."""

from hypothesis import settings

from tests.support.fork_server import Switch

Switch.on = True

# A busy machine makes any example slow; what is linear is held by tests.support.growth
settings.register_profile("suite", settings.default, deadline=None)
settings.load_profile("suite")
