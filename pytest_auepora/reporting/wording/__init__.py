"""Every sentence about a result, made once of its data: terminal, Markdown, page, JSON, annotations and JUnit use it.

`checks` and `cases` are about one case, `gates` about the suite, with `statistics` and `missing` for what they judge;
`verdict` is about the whole run: its first line, its causes; `steps` are what to do next.  `notes` are what is worth
knowing beside, with `note_text`, `advisory` and `spending`; `changes` what is different.
"""
