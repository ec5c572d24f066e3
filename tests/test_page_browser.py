"""The page in a real browser, used by its keyboard alone."""

import shutil

import pytest

from tests.keys import issue
from tests.served import served

pytestmark = [pytest.mark.ui, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(params=["light", "dark"])
def chromium(request):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1000,900"):
        options.add_argument(argument)
    if request.param == "dark":
        options.add_argument("--force-dark-mode")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as one:
        yield one


def test_a_key_opens_it_and_a_note_is_found_undone_and_erased_by_the_keyboard(memory, chromium):
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    memory.add("My dentist is Dr Silva.", user_id="ana", id="d1")
    memory.add("My train leaves at nine.", user_id="ana", id="t1")
    secret = issue(memory, "ana").secret

    def told(words):
        WebDriverWait(chromium, 60).until(lambda page: words in page.find_element("tag name", "body").text)

    def focused():
        return chromium.switch_to.active_element

    def press(*keys):
        for key in keys:
            focused().send_keys(key)

    def tab_to(words):
        for _ in range(40):
            press(Keys.TAB)
            if words in (focused().text, focused().get_attribute("id")):
                return
        raise AssertionError(f"no key leads to {words}")

    with served(memory, ui=True) as at:
        chromium.get(f"{at}/ui")
        told("A key is needed")
        press(secret, Keys.ENTER)
        told("2 notes from 2 sources")
        press("Who is my dentist?", Keys.ENTER)
        told("My dentist is Dr Silva.")
        tab_to("My dentist is Dr Silva.")
        press(Keys.ENTER)
        told("Versions")
        tab_to("Undo")
        press(Keys.ENTER)
        told("It was taken back")
        tab_to("Erase")
        press(Keys.ENTER)
        told("What is erased is gone for good")
        tab_to("query")
        press("train", Keys.ENTER)
        told("My train leaves at nine.")
        tab_to("Erase for good")
        press(Keys.ENTER)
        told("Nothing of it is left in the graph")
        assert [line for line in chromium.get_log("browser") if line["level"] == "SEVERE"] == []
    assert list(memory.get_all(user_id="ana")) == []


def test_it_needs_no_sideways_scrolling_on_a_narrow_screen(memory, chromium):
    memory.add("My dentist is Dr Silva, whose rooms are in the Rua do Alecrim." * 3, user_id="ana", id="d1")
    with served(memory, ui=True) as at:
        chromium.set_window_size(500, 800)
        chromium.get(f"{at}/ui/login")
        chromium.find_element("id", "key").send_keys(issue(memory, "ana").secret, "\n")
        for path in ("search?query=dentist", "facts", "notes/d1", "decisions", "topics", "ending", "forget"):
            chromium.get(f"{at}/ui/{path}")
            wide = chromium.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, path
