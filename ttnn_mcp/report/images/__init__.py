"""The pictures of a page as PNG, for hosts that show images: one module per picture, matplotlib draws."""
