"""Words of two texts that differ as a typing mistake or another spelling makes them differ."""

import re
from collections.abc import Iterator
from functools import lru_cache

# other spellings of whole words, and their American one
AMERICAN = {
    "grey": "gray", "greys": "grays", "tyre": "tire", "tyres": "tires", "programme": "program",
    "programmes": "programs", "aluminium": "aluminum", "plough": "plow", "cheque": "check", "cheques": "checks",
    "sceptical": "skeptical", "maths": "math", "mould": "mold", "kerb": "curb", "pyjamas": "pajamas"
}  # fmt: skip
CACHED_WORDS = 2**16
MAX_CANDIDATES = 20  # of the same letters, so that the time is linear
MIN_LETTERS = 5  # shorter words have too many neighbours: "form", "from"
MIN_LETTERS_OF_NAME = 7  # shorter ones may be two names: "Brett", "Bret"
WORD = re.compile(r"[^\W\d_]+")
DOUBLED = re.compile(r"(.)\1")
# British and American spellings, behind the first letters; what follows is written as in the second
SPELLINGS = [(re.compile(pattern), to) for pattern, to in (
    (r"[ao]e(?=[a-z]{2})", "e"),  # paediatrician, oestrogen
    (r"(?<=[a-z]{3})our(?=s?$|ed$|ing$|ite|ab|al|ful|less)", "or"),  # colour, favourite
    (r"(?<=[a-z]{2})ys(?=e|ing)", "yz"),  # analyse
    (r"(?<=[a-z]{3})is(?=e|ing$|ation)", "iz"),  # organise
    (r"ogue(?=s?$)", "og"),  # catalogue
    (r"ence(?=s?$)", "ense"),  # defence
)]  # fmt: skip
# words that two letters which change places, or a doubled letter, turn into other words
OTHER_WORDS = frozenset(
    """
    adams addams adler aires albino albion alder alexander alexandre anders andres angel angels angle angles aries arise
    asses assess astor astro ayers ayres ballon balloon bared barely baring barking barley baron barred barring barron
    bases basses beast beats beets being bellow below betts bidding biding biter bitter boast boats bobby boeing boner
    bonner booby boost boots borno boron bowels bowles brain braking brian broke brooke brunt buffet buffett bugle bulge
    burnt calms cameron cameroon canes cannes cannon cannons canon canons canvas canvass carat carbs career careers
    carer carers cares caress carlo carlos carol carols carroll carta carte carter carton cartons cartoon cartoons carve
    carved carving carvings castor castro casual casually causal causally chanel channel chapel chappell cheery cherry
    choose chose christian christina clams claps clasp closest closets clots coast coats colts comas comet commas
    compiled complaint compliant complied comte cooper copper coral corps corral crabs crate crater crave craved craving
    cravings creep crepe crops cures curie currie curse cuter cutter dairy desert deserts dessert desserts devote
    devotee diary diner diners dinner dinners discreet discrete discus discuss domed doomed dugan duggan elector electro
    elias elisa elise elsie employe employee enter entre exist exits farmed farming feast feats fiance fiancee field
    fiend filed files filet filing filings filled fillet filling fillings fined finely finish finley finnish fired fires
    flies forest forester forrest forrester framed framing fried fries garde garnet garnett garret garrett georgian
    georgina gilded giles gilles glided godwin goodwin goran grade great greta griped gripped groan groove grooves grove
    groves handel handle hearst hearts heels hells holiday holliday hooper hoover hoped hoping hopped hopper hopping
    horus hours hover hurst hurts infarction infraction jaime jamie jewel jewell kirsten kristen laing lairs later
    latter leila lelia liang liars liber libre licence licences license licensee licensees licenses lions liter litre
    litter loins looser loosing loser loses losing losses macro macros magna maira manga mantel mantle marco marcos
    maria marian marina marino marion marital marshal marshall martial martian martina mated mater matted matter median
    medina mellon melon merit merritt minuet minute moines monet money monies monte mooney moped mopped mores morse
    mouse mousse needles needless nobel noble norte notre pairs palin paris parish parrish parton pasty patron patsy
    peeking peers peking peres perfect perform picket pickett pilar pillar pined pinned pinot pinto plain planed planing
    planned planning plate platte polled polling polls pooled pooling pools pooped pooping popped popping porto poses
    posse possess prefect preform pride pried princes princess proto quiet quite raged ragged raped raping rapped
    rapping refuge refugee refugees refuges retire retiree retirees retires ridding riding robbed robbins robed robins
    roost rooster roosters rooted rooting roots roster rosters rotted rotting sabah sabha sacred salon saloon salted
    salter salve satin scared scaring scarlet scarlett scarred scarring scotus scouts scraped scraping scrapped
    scrapping shoots shots signing signs silver simmons simons singing sings siting sitting slated slater slave sliver
    sloping slopping smoother smother soils solis spares sparing sparring sparse spilt split stain stared staring
    starred starring start steeped steeping stepped stepping strat striped striping stripped stripping stubbs stubs
    super supper taped taping tapped tapping tenant tennant there theres thorne three threes throne tiers tilted tired
    tires titled tolls tones tonnes tools trail trails trial trials tried tries unite united untie untied viola voila
    wagging waging waist waits wedding weeding weiner welcome wellcome whooping whopping wiener winer wining winner
    winning yeast yeats
    """.split()  # noqa: SIM905
)


def respelled(text: str, other: str) -> Iterator[tuple[int, int, str]]:
    """Words of a text that another text writes with another spelling or with two letters exchanged or doubled.

    Both must have letters enough, begin alike and not be known as two words ("trail", "trial"). Which of them is right
    does not matter.

    Yields:
        Begin and end of the word in the text, and the other text's writing.
    """
    theirs = {match[0] for match in WORD.finditer(other)}
    known = {word.casefold() for word in theirs}
    mine = [match for match in WORD.finditer(text) if match[0].casefold() not in known]
    own = {match[0].casefold() for match in WORD.finditer(text)}
    by_key: dict[str, list[str]] = {}
    for word in sorted(theirs):
        if word.casefold() not in own:
            by_key.setdefault(_key(word), []).append(word)
    for match in mine:
        written = next(
            (word for word in by_key.get(_key(match[0]), [])[:MAX_CANDIDATES] if _is_same_word(match[0], word)), None
        )
        if written is not None:
            yield match.start(), match.end(), written


@lru_cache(CACHED_WORDS)
def _key(word: str) -> str:
    """Words that may be one have the same: the first letter, and the other letters in order, without repeats."""
    word = american(word)
    return word[:1] + "".join(sorted(set(word[1:])))


def american(word: str) -> str:
    """A word in small letters and American spelling."""
    word = word.casefold()
    if word in AMERICAN or len(word) < MIN_LETTERS:
        return AMERICAN.get(word, word)
    for pattern, to in SPELLINGS:
        word = pattern.sub(to, word)
    return word


def _is_same_word(one: str, other: str) -> bool:
    """Whether the words are one but for spelling, doubled letters, or two neighbours that change places."""
    names = one[0].isupper() and other[0].isupper()
    one, other = one.casefold(), other.casefold()
    if AMERICAN.get(one, one) == AMERICAN.get(other, other):
        return not names  # "Tyre" is a city, "Grey" and "Gray" are two families
    if min(len(one), len(other)) < MIN_LETTERS or {one, other} <= OTHER_WORDS:
        return False
    if DOUBLED.sub(r"\1", american(one)) == DOUBLED.sub(r"\1", american(other)):
        return not names or min(len(one), len(other)) >= MIN_LETTERS_OF_NAME
    places = [i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    if len(one) != len(other) or len(places) != 2 or (names and len(one) < MIN_LETTERS_OF_NAME):  # "Daina", "Dania"
        return False
    i, j = places
    return j == i + 1 and (one[i], one[j]) == (other[j], other[i])
