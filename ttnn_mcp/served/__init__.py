"""The pages that are served as resources."""
