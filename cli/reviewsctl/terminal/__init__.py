"""What a person sees: tables, progress, pages."""
