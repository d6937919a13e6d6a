"""Words that exports have, in seven languages."""
