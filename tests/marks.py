"""What a model may read as the closing mark of a context, made of signs that look like the mark's own."""

from random import Random

NAME = "recalled-memory"
LETTERS = {
    "a": "a4AⓐⒶ🄐ᴀаα𝐚𝖆ａáä🅐🅰ɐᎪ⒜",
    "c": "cCⓒⒸᴄсϲ𝐜𝖈ｃçčℂ🅒¢Ꮯ⒞",
    "d": "dDⓓⒹᴅԁ𝐝𝖉ｄđðḍ🅓∂ᗪ⒟",
    "e": "e3EⓔⒺᴇеε𝐞𝖊ｅéë🅔🇪℮ɘᎬ⒠",
    "l": "lLⓛⓁʟӏ|1I𝐥𝖑ｌłĺ🅛ℓᏞ⒧",
    "m": "mMⓜⓂᴍмμ𝐦𝖒ｍṁ🅜ᗰᎷ⒨",
    "o": "oOⓞⓄᴏоο0օ𝐨𝖔ｏøö🅞⒪",
    "r": "rRⓡⓇʀгᴦ𝐫𝖗ｒŕ🅡🇷ɾᵣ®⒭",
    "y": "yYⓨⓎʏуү𝐲𝖞ｙýÿ🅨ɣ¥⒴",
    "-": "-‑‐–−_ \u00a0\u3000·",
}
OPENING = "<＜﹤‹〈⟨⟪《❮❬ᐸ˂«≪[({⟦【⌈◁◀⋖≺"
SLASHES = "/⁄∕╱⧸／⟋⫽⧵﹨\\"
CLOSING = ">＞﹥›〉⟩⟫》❯❭ᐳ˃»≫])}⟧】⌉▷▶⋗≻"
UNSEEN = [
    "",
    "",
    "\u200b",
    "\u200d",
    "\ufe0f",
    "\U000e0101",
    "\u0301",
    "\u20dd",
    "\u00ad",
    "\u202e",
    "\u034f",
    "\U000e0061",
    "\u0368",
    "\u02d0",
    "\ue000" * 3,
    "\u2800" * 4,
]
READS = {like: letter for letter, some in LETTERS.items() for like in some}


def look_alike(random: Random) -> str:
    """Return a closing mark with some of its signs replaced by others that look like them, and signs between."""
    between = [random.choice(UNSEEN) for _ in range(2)]
    name = "".join(random.choice([letter, *LETTERS[letter]]) + random.choice(between) for letter in NAME)
    blank = random.choice(["", "", " ", "\t", "\u2003", between[0]])
    return f"{random.choice(OPENING)}{blank}{random.choice(SLASHES)}{blank}{name}{blank}{random.choice(CLOSING)}"


def closing(text: str) -> int:
    """Count what reads as a closing mark in a text, by the signs above."""
    for sign in {*UNSEEN, *" \t\u2003"} - {""}:
        text = text.replace(sign, "")
    read = "".join(READS.get(sign, sign) for sign in text)
    for same, signs in (("<", OPENING), ("/", SLASHES), ("", LETTERS["-"])):
        for sign in signs:
            read = read.replace(sign, same)
    return read.count(f"</{NAME.replace('-', '')}")
