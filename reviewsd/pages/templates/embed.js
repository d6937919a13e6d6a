(() => {
  const script = document.currentScript || document.querySelector('script[src$="/embed.js"]');
  const option = (name) => script.getAttribute("data-" + name.replace("_", "-"));
  const url = new URL("/embed", script.src);
  for (const name of {{ names|tojson }}) if (option(name)) url.searchParams.set(name, option(name));
  const scheme = { dark: "dark", auto: "light dark" }[option("theme")] || "light";
  const frame = document.createElement("iframe");
  frame.src = url;
  frame.title = {{ title|tojson }};
  frame.loading = "lazy";
  frame.style.cssText = "display:block;border:0;width:100%;height:400px;color-scheme:" + scheme;
  addEventListener("message", (event) => {
    if (event.origin === url.origin && event.source === frame.contentWindow)
      frame.style.height = event.data.height + "px";
  });
  script.replaceWith(frame);
})();
