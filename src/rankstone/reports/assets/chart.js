const data = JSON.parse(document.getElementById("data").textContent);
const drawn = () => (document.documentElement.dataset.drawn = "");
vegaEmbed("#chart", data.spec, { ast: true, renderer: "svg" }).then(drawn);
