// What a page shows at first, and after its address has changed.
(() => {
  const { D, $ } = Page;
  const root = document.documentElement;

  // -- two systems, or many -----------------------------------------------------------
  let two = null;
  let width = innerWidth;
  function draw() {
    if (!D.two) return;
    two = Pair.comparison(0);
    $("picture").replaceChildren(Pair.picture(two));
    $("pair").replaceChildren(...Pair.sections(two).filter(Boolean));
  }
  function go() {
    const address = new URLSearchParams(location.hash.slice(1));
    const pair = /^(\d+)-(\d+)$/.exec(address.get("pair") || "");
    const query = address.get("q");
    if (pair && !D.two) Board.open(Number(pair[1]), Number(pair[2]), query);
    else if (query && D.two) document.querySelector(".examples")?.goTo(query);
    else if (location.hash) $(location.hash.slice(1))?.scrollIntoView();
  }
  draw();
  if (D.two && D.slices) Results.fill("slices");
  if (document.querySelector(".leaderboard")) Board.start();
  else if (D.board) Standings.start();
  else if (!D.two) Results.start();
  addEventListener("hashchange", go);
  addEventListener("resize", () => {
    clearTimeout(draw.later);
    draw.later = setTimeout(() => {
      if (innerWidth < 760 !== width < 760) draw();
      width = innerWidth;
    }, 200);
  });
  go();
  root.dataset.drawn = "yes";
})();
