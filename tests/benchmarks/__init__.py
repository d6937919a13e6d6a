"""Run by hand, never by pytest; the README says how."""
