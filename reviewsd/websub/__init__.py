"""The WebSub hub: requests, callbacks, verification and distribution."""
