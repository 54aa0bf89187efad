"""The rules of Erqiwang: pure, typed, exact."""
