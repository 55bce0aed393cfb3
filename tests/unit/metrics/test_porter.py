"""The stemmer, on words whose stems Porter's paper and its extensions state."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.metrics.text.porter import porter_stem

PAPER = """
caresses:caress ponies:poni caress:caress cats:cat feed:feed agreed:agre plastered:plaster bled:bled motoring:motor
sing:sing conflated:conflat troubled:troubl sized:size hopping:hop tanned:tan falling:fall hissing:hiss fizzed:fizz
failing:fail filing:file happy:happi relational:relat conditional:condit rational:ration valency:valenc
hesitancy:hesit digitizer:digit conformably:conform radically:radic differently:differ vilely:vile
analogously:analog vietnamization:vietnam predication:predic operator:oper feudalism:feudal decisiveness:decis
hopefulness:hope callousness:callous formality:formal sensitivity:sensit sensibility:sensibl triplicate:triplic
formative:form formalize:formal electricity:electr electrical:electr hopeful:hope goodness:good revival:reviv
allowance:allow inference:infer airliner:airlin gyroscopic:gyroscop adjustable:adjust defensible:defens
irritant:irrit replacement:replac adjustment:adjust dependent:depend adoption:adopt communism:commun
activate:activ angularity:angular homologous:homolog effective:effect bowdlerize:bowdler probate:probat rate:rate
cease:ceas controlling:control rolling:roll
"""
EXTENSIONS = """
ties:tie dies:die tied:tie spied:spi skies:sky dying:die news:news innings:inning proceed:proceed enjoy:enjoy
spy:spi flies:fli geology:geolog hopefully:hope rationally:ration
"""


@pytest.mark.parametrize("pair", (PAPER + EXTENSIONS).split())
def test_stems_as_published(pair: str) -> None:
    word, stem = pair.split(":")
    assert porter_stem(word) == stem


@given(st.text(alphabet="aeiouybcdlstzwx1", max_size=12))
def test_a_stem_is_never_longer_than_its_word(word: str) -> None:
    assert len(porter_stem(word)) <= len(word)


def test_a_run_of_y_takes_linear_time() -> None:
    assert porter_stem("y" * 200_000).startswith("yy")


def test_stemming_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom pytest_auepora.metrics.text.tokens import words\n"
        "assert words('running stems', stem=True) == ('run', 'stem')\n"
        "print([m for m in ('nltk', 'rouge_score', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
