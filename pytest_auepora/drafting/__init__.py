"""Golden cases that a program proposes and a person accepts: variants of cases, and cases from documents."""
