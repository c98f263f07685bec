"""The words of this repository, against the styles of Vale in `styles`."""
