"""Every sentence about a result, made once of its data: terminal, Markdown, page, JSON, annotations and JUnit use it.

`checks` and `cases` are about one case, `gates` about the suite, `verdict` about the whole run: its first line, its
causes; `steps` what to do next; `notes` what is worth knowing beside; `changes` what is different.
"""
