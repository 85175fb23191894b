// Tables and code that scroll can be reached with the keyboard.
addEventListener("load", () =>
  setTimeout(() => {
    for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code"))
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0
  }, 200)
)
