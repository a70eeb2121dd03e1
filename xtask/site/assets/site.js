// The address of the service, search, copying, the remembered language of samples, and the current place. The pages can be read without it.
'use strict';

const { search: index, root } = document.currentScript.dataset;
const base = new URL(root || './', location.href);

// Storage may be forbidden.
const stored = (work) => {
  try {
    return work(localStorage);
  } catch {
    return null;
  }
};

// The pages of the service name it by this address, since it does not know under which one readers reach it.
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const text = texts.currentNode;
  if (text.data.includes('https://this-service.invalid')) {
    text.data = text.data.replaceAll('https://this-service.invalid', location.origin);
  }
}

const element = (name, properties) => Object.assign(document.createElement(name), properties);

// Without TLS there is no clipboard, only the selection.
const copy = async (code) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(code.textContent);
  getSelection().selectAllChildren(code);
  if (!document.execCommand('copy')) throw new Error('not copied');
};

for (const code of document.querySelectorAll('pre > code')) {
  const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' });
  button.addEventListener('click', async () => {
    button.textContent = await copy(code).then(() => 'Copied', () => 'Press Ctrl+C');
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  code.parentElement.before(button);
}

const languages = document.querySelector('.languages');
languages?.addEventListener('change', ({ target }) => stored((storage) => storage.setItem('language', target.value)));
const language = stored((storage) => storage.getItem('language'));
for (const input of languages?.querySelectorAll('input') ?? []) if (input.value === language) input.checked = true;

// Marks the link to the last heading above the middle of the window.
const places = new Map();
for (const link of document.querySelectorAll('.contents a[href^="#"]')) {
  const place = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (place) places.set(place, link);
}
const mark = () => {
  const above = [...places].filter(([place]) => place.getBoundingClientRect().top < innerHeight / 3);
  const current = above.at(-1)?.[1];
  for (const link of places.values()) {
    if (link === current) link.setAttribute('aria-current', 'location');
    else link.removeAttribute('aria-current');
  }
};
if (places.size > 0) {
  addEventListener('scroll', () => requestAnimationFrame(mark), { passive: true });
  mark();
}

const box = document.querySelector('.search');
const input = box.querySelector('input');
const results = box.querySelector('.results');
let entries;

// Titles count more than words.
const weight = (words) => ([title, , text]) => {
  const [inTitle, inText] = [title, text].map((where) => where.toLowerCase());
  if (!words.every((word) => inTitle.includes(word) || inText.includes(word))) return 0;
  return 1 + words.filter((word) => inTitle.includes(word)).length;
};

const find = async () => {
  entries ??= fetch(index).then((answer) => answer.json());
  const all = await entries;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const of = weight(words);
  const found = words.length === 0 ? [] : all.map((entry) => [of(entry), entry]).filter(([points]) => points > 0);
  found.sort(([one], [other]) => other - one);
  const link = ([, [title, path, text]]) => {
    const href = path.startsWith('#') && root === '' ? path : new URL(path, base).href;
    const item = element('a', { href, textContent: title });
    item.append(element('small', { textContent: text.slice(0, 90) }));
    const line = element('li', {});
    line.append(item);
    return line;
  };
  results.replaceChildren(...found.slice(0, 8).map(link));
  if (words.length > 0 && found.length === 0) results.append(element('li', { textContent: 'Nothing found' }));
};

box.hidden = false;
input.addEventListener('input', () => find().catch(() => results.replaceChildren(element('li', { textContent: 'The search failed' }))));
input.addEventListener('keydown', ({ key }) => key === 'Enter' && results.querySelector('a')?.click());
box.addEventListener('keydown', ({ key }) => key === 'Escape' && ((input.value = ''), results.replaceChildren(), input.focus()));
results.addEventListener('click', () => ((input.value = ''), results.replaceChildren()));
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.matches('input, textarea, select')) return;
  event.preventDefault();
  input.focus();
});
