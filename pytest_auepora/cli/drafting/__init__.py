"""Commands on golden cases that a program proposes and a person accepts."""
