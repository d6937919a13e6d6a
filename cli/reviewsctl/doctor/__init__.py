"""The tests of ``reviewsctl doctor``: each is a function that looks at one thing and returns."""
