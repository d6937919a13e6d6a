// Shows the result of a tool in the frame of a host (MCP Apps, 2026-01-26). Texts of reviews become text nodes, never markup.
(() => {
  'use strict';
  const { words, fields, sources, origin, pages, language, colors } = JSON.parse(document.getElementById('settings').textContent);
  const root = document.documentElement;
  const main = document.querySelector('main');
  const percents = new Intl.NumberFormat(language, { style: 'percent' });
  const numbers = new Intl.NumberFormat(language);
  const days = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' });
  for (const [name, [day, night]] of Object.entries(colors)) root.style.setProperty(`--${name}`, `light-dark(${day}, ${night})`);
  let input = {}; // the arguments of the call
  let host = {}; // the capabilities of the host

  // Messages: JSON-RPC to and from the host

  const waiting = new Map();
  let lastId = 0;
  const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  const request = (method, params) => new Promise((resolve, reject) => {
    lastId += 1;
    waiting.set(lastId, [resolve, reject]);
    post({ id: lastId, method, params });
  });
  const received = {
    'ui/notifications/tool-input': (params) => { input = params.arguments || {}; },
    'ui/notifications/tool-result': show,
    'ui/notifications/host-context-changed': adapt,
    'ui/resource-teardown': () => ({}),
    ping: () => ({}),
  };
  addEventListener('message', ({ source, data }) => {
    if (source !== parent || !data || data.jsonrpc !== '2.0') return;
    const { id, method, params } = data;
    if (method === undefined) {
      const [resolve, reject] = waiting.get(id) || [];
      waiting.delete(id);
      if (resolve) (data.error ? reject : resolve)(data.error || data.result);
      return;
    }
    const known = Object.hasOwn(received, method);
    const result = known ? received[method](params || {}) : undefined;
    if (id === undefined) return;
    post(known ? { id, result: result || {} } : { id, error: { code: -32601, message: 'Method not found' } });
  });

  function adapt({ theme, styles, safeAreaInsets: inset }) {
    if (theme) root.style.colorScheme = theme;
    for (const [name, value] of Object.entries((styles && styles.variables) || {})) {
      if (name.startsWith('--') && value) root.style.setProperty(name, value);
    }
    if (inset) document.body.style.padding = `${inset.top}px ${inset.right}px ${inset.bottom}px ${inset.left}px`;
  }

  // Elements

  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== ''));
    return element;
  };
  const say = (key, values = {}) => words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const counted = (key, count) => say(count === 1 ? `${key}_one` : key, { count: numbers.format(count) });
  const link = (label, path, kind) => {
    const url = origin + path;
    const anchor = make('a', { href: url, target: '_blank', rel: 'noopener', class: kind }, label);
    anchor.addEventListener('click', (event) => {
      if (!host.openLinks) return; // the frame may open it by itself
      event.preventDefault();
      request('ui/open-link', { url }).catch(() => {}); // the host has told the person why not
    });
    return pages ? anchor : null;
  };
  const stars = (rating) => {
    const text = say('stars', { rating: numbers.format(rating) });
    const element = make('span', { class: 'stars', role: 'img', 'aria-label': text });
    element.style.setProperty('--filled', `${rating * 20}%`);
    return element;
  };
  const bar = (percent) => {
    const full = make('i', {});
    full.style.inlineSize = `${percent}%`;
    return make('span', { class: 'bar', 'aria-hidden': 'true' }, full);
  };
  const pill = (label, count) => make('li', {}, make('bdi', {}, label), count === undefined ? '' : make('span', { class: 'num' }, counted('aspect_mentions', count)));
  const pills = (...entries) => (entries.length ? make('ul', { class: 'pills' }, ...entries) : null);
  const said = (text) => make('p', { class: 'said', dir: 'auto' }, text);
  const day = (date) => make('time', { datetime: date }, days.format(new Date(`${date}T00:00:00Z`)));
  const initials = (name) => name.split(/\s+/).filter((word) => /^[\p{L}\p{N}]/u.test(word)).map((word) => [...word][0]);

  function card(review) {
    const name = review.author.trim();
    const author = name === '' || name === 'Anonymous' ? words.nameless : name;
    const letters = initials(author);
    const reply = review.owner_reply;
    return make('article', { class: 'card', 'aria-label': author },
      stars(review.rating),
      make('header', {},
        make('span', { class: 'face', 'aria-hidden': 'true' }, [letters[0], ...letters.slice(1).slice(-1)].join('').toUpperCase() || '★'),
        make('div', {},
          make('h2', {}, make('bdi', {}, author)),
          make('p', { class: 'meta' }, day(review.date), ' · ', make('bdi', {}, sources[review.source] || review.source),
            review.verified ? make('span', { class: 'ok' }, ` ✓ ${words.verified}`) : ''))),
      review.text ? said(review.text) : make('p', { class: 'mute' }, say('rated_only', { rating: review.rating })),
      reply ? make('div', { class: 'reply' }, make('p', { class: 'meta' }, make('b', {}, words.reply), reply.undated ? '' : [' · ', day(reply.date)]), said(reply.text)) : '',
      link(words.open_review, `/r/${encodeURIComponent(review.id)}`, 'open'));
  }

  // One view for each tool

  const views = {
    business({ business, aggregate_rating: rating, review_count: count }) {
      const each = rating.distribution || {};
      const rows = [5, 4, 3, 2, 1].map((number) => make('li', {},
        make('span', {}, counted('star', number)), bar(count ? (100 * (each[number] || 0)) / count : 0),
        make('span', { class: 'num' }, numbers.format(each[number] || 0))));
      const average = rating.rating_value;
      return [
        make('h1', {}, make('bdi', {}, business.name)),
        average === null || average === undefined ? make('p', { class: 'mute' }, words.no_reviews) : make('section', { class: 'score' },
          make('p', { class: 'average' }, make('b', {}, new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(average)),
            make('span', {}, stars(average), make('span', { class: 'mute' }, counted('review_count', count)))),
          make('ul', { class: 'bars', 'aria-label': words.distribution }, ...rows)),
        business.description ? said(business.description) : '',
        count ? link(counted('see_all', count), '/reviews', 'button') : ''];
    },

    search({ matched, returned, reviews, next_cursor: cursor, note }) {
      const cards = make('div', { class: 'cards' }, ...reviews.map(card));
      const chosen = Object.entries(input).filter(([name, value]) => fields[name] && value !== null && value !== '');
      const query = new URLSearchParams(chosen.map(([name, value]) => [name, String(value)]));
      const more = make('button', { class: 'button', type: 'button' }, words.more_reviews);
      more.addEventListener('click', async () => {
        more.disabled = true;
        try {
          const { structuredContent: page } = await request('tools/call', { name: 'search_reviews', arguments: { ...input, cursor } });
          cards.append(...page.reviews.map(card));
          cursor = page.next_cursor;
          more.hidden = !cursor;
        } finally {
          more.disabled = false; // also after an error, to be tried again
        }
      });
      return [
        make('h1', {}, matched ? counted('found', matched) : words.found_none),
        pills(...chosen.map(([name, value]) => pill(say('filter_named', { field: fields[name], value: String(value) })))),
        note ? make('p', { class: 'mute', dir: 'auto' }, note) : '',
        cards,
        make('p', { class: 'acts' }, cursor && host.serverTools ? more : '',
          matched > returned ? link(counted('see_all', matched), `/reviews?${query}`, 'button') : '')];
    },

    summary(result) {
      const aspects = (result.aspects || []).map(({ label, mention_count: count, positive_pct: share }) => make('li', {},
        make('bdi', {}, label), bar(share || 0),
        make('span', { class: 'num mute' }, share === undefined ? '' : `${say('aspect_share', { percent: percents.format(share / 100) })} · `, counted('aspect_mentions', count))));
      const groups = [['technicians', result.technicians], ['services', result.services], ['problems', result.problems], ['areas', result.service_areas], ['topics', result.topics]];
      return [
        make('h1', {}, words.summary_title),
        result.pull_quote ? make('blockquote', { dir: 'auto' }, result.pull_quote) : '',
        ...(result.summary || result.note || '').split(/\n\s*\n/).map(said),
        aspects.length ? make('ul', { class: 'aspects' }, ...aspects) : '',
        ...groups.flatMap(([heading, list]) => (list && list.length
          ? [make('h2', {}, words[heading]), pills(...list.map((one) => pill(one.label || one.name, one.mention_count)))] : [])),
        result.review_count ? link(counted('see_all', result.review_count), '/reviews', 'button') : ''];
    },
  };

  function show({ content = [], structuredContent, isError }) {
    const text = content.filter((item) => item.type === 'text').map((item) => item.text).join('\n');
    const data = isError ? null : structuredContent;
    const shown = data ? views[document.body.dataset.view](data) : [said(text)];
    main.replaceChildren(...shown.filter(Boolean));
  }

  const observer = new ResizeObserver(() => {
    const { height } = root.getBoundingClientRect(); // the host chooses the width
    post({ method: 'ui/notifications/size-changed', params: { height: Math.ceil(height) } });
  });

  request('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name: 'reviewsd', version: '1' },
    appCapabilities: { availableDisplayModes: ['inline'] },
  }).then((result) => {
    host = result.hostCapabilities || {};
    adapt(result.hostContext || {});
    post({ method: 'ui/notifications/initialized', params: {} });
    observer.observe(root);
  });
})();
