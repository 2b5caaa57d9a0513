"""Parts of a model: prefill, decode, encoder, sampling."""
