// Starts the viewer, with the service that this page comes from as the first server to try.
'use strict';

const viewer = document.getElementById('viewer');
const sends = viewer.dataset.sends === 'true';

const basePathOf = ({ url, variables = {} }) => {
  const filledIn = url.replace(/\{(\w+)\}/g, (whole, name) => variables[name]?.default ?? whole);
  return new URL(filledIn, location.href).pathname;
};

// The viewer fills the form with examples. Of a parameter that may be left out, they would restrict the list to some
// animals, or repeat an idempotency key of somebody else.
const withoutOptionalExamples = (spec) => {
  const items = Object.values(spec.paths ?? {});
  const owners = items.flatMap((item) => [item, ...Object.values(item)]);
  const parameters = owners.flatMap((owner) => owner?.parameters ?? []).concat(Object.values(spec.components?.parameters ?? {}));
  for (const parameter of parameters.filter(({ required }) => !required)) {
    delete parameter.example;
    delete parameter.examples;
    delete parameter.schema?.example;
  }
  return spec;
};

// The viewer says that it is complete before its elements are there.
const appeared = (selector) =>
  new Promise((resolve) => {
    const look = () => document.querySelector(selector) !== null && (observer.disconnect(), resolve());
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true });
    look();
  });

// The operations first, for those who come back, then the sections of the description.
const fillContents = () => {
  const contents = document.querySelector('.parts');
  const entry = (text, target) => {
    const link = document.createElement('a');
    link.href = `#${target.id}`;
    link.textContent = text;
    // The viewer keeps the fragment for itself.
    link.addEventListener('click', (event) => {
      event.preventDefault();
      target.scrollIntoView({ behavior: 'smooth' });
    });
    const item = document.createElement('li');
    item.append(link);
    contents.firstElementChild.append(item);
  };
  entry('Operations', document.querySelector('#viewer .scheme-container'));
  for (const heading of document.querySelectorAll('#viewer .info .renderedMarkdown h2')) {
    entry(heading.textContent, heading);
  }
  contents.hidden = false;
};

// The viewer reads an answer's numbers as JavaScript does, which rounds beyond 2^53. Such an answer is shown
// with its digits as they came, at the price of its colours.
const withExactDigits = (answer) => {
  const { content, contentType } = answer;
  if (typeof content !== 'string' || !/json/i.test(contentType) || !/\d{16}/.test(content)) return answer;
  const keep = (_, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value);
  const shown = JSON.rawJSON ? JSON.stringify(JSON.parse(content, keep), null, 2) : content;
  return { ...answer, content: shown, contentType: 'text/plain' };
};

const exactDigits = () => ({
  wrapComponents: {
    responseBody: (Body, { React }) => (answer) => React.createElement(Body, withExactDigits(answer)),
  },
});

// A page that sends nothing must not ask for a key.
const withoutKeys = () => ({ wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null } });

// What Swagger UI leaves out for readers who cannot see the page: names of inputs, levels of headings. A link within a
// button cannot be reached, and the button does the same.
const name = (element, text) => element.setAttribute('aria-label', text.trim());
const repairs = {
  '#servers': (element) => name(element, 'Server'),
  'input[data-variable]': (element) => name(element, element.dataset.variable),
  'textarea.body-param__text': (element) => name(element, 'Request body'),
  '.examples-select-element': (element) => name(element, 'Example'),
  // There is one for each operation.
  'table.responses-table': (element) =>
    name(element, `Responses of ${element.closest('.opblock').id.replace(/^operations-/, '')}`),
  '.copy-to-clipboard button': (element) => name(element, 'Copy'),
  '.model-box-control': (element) => element.textContent.trim() || name(element, 'Details'),
  '.close-modal': (element) => name(element, 'Close'),
  // The label says other words than the button.
  '.auth-btn-wrapper button[aria-label]': (element) => element.removeAttribute('aria-label'),
  '.servers h4': (element) => element.setAttribute('aria-level', '3'),
  'button a[href]': (element) => element.removeAttribute('href'),
  'tr[data-param-name] :is(input, select, textarea)': (element) =>
    name(element, element.closest('tr').dataset.paramName),
};
const repair = () => {
  for (const [selector, change] of Object.entries(repairs)) viewer.querySelectorAll(selector).forEach(change);
};
new MutationObserver(repair).observe(viewer, { childList: true, subtree: true });

fetch(viewer.dataset.document)
  .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`HTTP ${answer.status}`))))
  .then((published) => {
    const spec = withoutOptionalExamples(published);
    const [first] = spec.servers ?? [{ url: '/' }];
    const here = { url: location.origin + basePathOf(first), description: 'This service' };
    if (sends) spec.servers = [here, ...(spec.servers ?? [])];
    SwaggerUIBundle({
      spec,
      dom_id: '#viewer',
      deepLinking: true,
      displayOperationId: true,
      // Shows the bounds of parameters.
      showCommonExtensions: true,
      showExtensions: true,
      plugins: sends ? [exactDigits] : [exactDigits, withoutKeys],
      ...(sends ? {} : { supportedSubmitMethods: [] }),
      // A badge that would send the document to somebody else's server.
      validatorUrl: null,
    });
    return appeared('#viewer .opblock');
  })
  .then(() => {
    fillContents();
    document.body.setAttribute('data-shown', '');
  })
  .catch((error) => {
    const failure = document.createElement('p');
    failure.className = 'notice';
    failure.textContent = `The OpenAPI document could not be loaded: ${error.message}`;
    viewer.before(failure);
  });
