"""The Reviews Service daemon: one business's reviews, served as rendered bytes."""
