"""The detector of languages, which Python 3.14 and Linux on ARM do not have."""

import pytest

from reviewsd.analysis.language import LIBRARY

needs_detector = pytest.mark.skipif(LIBRARY is None, reason="pycld2 has no wheel here")
