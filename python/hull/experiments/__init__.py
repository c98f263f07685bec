"""One module per experiment of the source documents, each with its EXPERIMENT."""
