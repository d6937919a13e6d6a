"""Files of any size as rows: CSV, JSON, XLSX, zip archives and folders."""
