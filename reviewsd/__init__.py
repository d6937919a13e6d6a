"""The Reviews Service daemon: one business's verified reviews, served as rendered bytes."""
