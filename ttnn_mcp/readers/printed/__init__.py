"""Values as TTNN prints them: attributes, memory configs, shapes."""
