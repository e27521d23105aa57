"""A page of a browser that is watched while it is tested."""

from contextlib import contextmanager


@contextmanager
def watched(browser, home, **more):
    """A page that fails the test on an error in it, or on a request that goes elsewhere than `home`."""
    context = browser.new_context(viewport={"width": 1000, "height": 900}, **{"reduced_motion": "reduce", **more})
    one = context.new_page()
    wrong = []
    one.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    one.on("pageerror", lambda error: wrong.append(str(error)))
    one.on("request", lambda request: wrong.append(request.url) if not request.url.startswith(
        (home, "data:", "blob:", "file:")) else None)  # fmt: skip
    one.wrong = wrong
    one.set_default_timeout(20_000)
    yield one
    context.close()
    assert not wrong
