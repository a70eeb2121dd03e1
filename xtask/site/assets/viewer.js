// Starts the viewer for the service that this page comes from, with the operation of the fragment first.
'use strict';

const viewer = document.getElementById('viewer');
const sends = viewer.dataset.sends === 'true';

const basePathOf = ({ url, variables = {} }) => {
  const filledIn = url.replace(/\{(\w+)\}/g, (whole, name) => variables[name]?.default ?? whole);
  return new URL(filledIn, location.href).pathname;
};

// What the documentation says already, and the other servers, which this page may not reach. The viewer fills the form
// with examples: of a parameter that may be left out, they would restrict the list to some animals, or repeat an
// idempotency key of somebody else.
const reduced = (spec) => {
  const [first] = spec.servers ?? [{ url: '/' }];
  const items = Object.values(spec.paths ?? {});
  const owners = items.flatMap((item) => [item, ...Object.values(item)]);
  const parameters = owners.flatMap((owner) => owner?.parameters ?? []).concat(Object.values(spec.components?.parameters ?? {}));
  for (const parameter of parameters.filter(({ required }) => !required)) {
    delete parameter.example;
    delete parameter.examples;
    delete parameter.schema?.example;
  }
  for (const parameter of parameters) delete parameter.description;
  for (const operation of owners.filter((owner) => owner?.responses)) {
    delete operation.description;
    delete operation.requestBody?.description;
    operation.responses = {};
  }
  return { ...spec, servers: [{ url: location.origin + basePathOf(first) }], tags: [], info: { ...spec.info, description: '' } };
};

// The viewer says that it is complete before its elements are there.
const appeared = (selector) =>
  new Promise((resolve) => {
    const look = () => document.querySelector(selector) !== null && (observer.disconnect(), resolve());
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true });
    look();
  });

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

const onlyOperations = () => ({
  wrapComponents: { InfoContainer: () => () => null, ServersContainer: () => () => null, Models: () => () => null },
});

// What Swagger UI leaves out for readers who cannot see the page: names of inputs, levels of headings. A link within a
// button cannot be reached, and the button does the same.
const name = (element, text) => element.setAttribute('aria-label', text.trim());
const repairs = {
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
  // The headings above these are not shown.
  ':is(.opblock h4, .modal-ux h3)': (element) => element.setAttribute('aria-level', '2'),
  ':is(.opblock h5, .modal-ux h4)': (element) => element.setAttribute('aria-level', '3'),
  // It may be scrolled.
  'pre.microlight': (element) => (element.tabIndex = 0),
  'button a[href]': (element) => element.removeAttribute('href'),
  'tr[data-param-name] :is(input, select, textarea)': (element) =>
    name(element, element.closest('tr').dataset.paramName),
};
const repair = () => {
  for (const [selector, change] of Object.entries(repairs)) viewer.querySelectorAll(selector).forEach(change);
};
new MutationObserver(repair).observe(viewer, { childList: true, subtree: true });

// The operation that a link asked for, as `#/tag/operationId`.
const [tag, asked] = location.hash.slice(2).split('/').map(decodeURIComponent);
const isAsked = (operation) => operation.getIn(['operation', 'operationId']) === asked;

fetch(viewer.dataset.document)
  .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`HTTP ${answer.status}`))))
  .then((published) => {
    const ui = SwaggerUIBundle({
      spec: reduced(published),
      dom_id: '#viewer',
      displayOperationId: true,
      operationsSorter: (one, other) => isAsked(other) - isAsked(one),
      onComplete: () => asked && ui.layoutActions.show(['operations', tag, asked], true),
      // Shows the bounds of parameters.
      showCommonExtensions: true,
      tryItOutEnabled: sends,
      plugins: [exactDigits, onlyOperations, ...(sends ? [] : [withoutKeys])],
      ...(sends ? {} : { supportedSubmitMethods: [] }),
      // A badge that would send the document to somebody else's server.
      validatorUrl: null,
    });
    return appeared('#viewer .opblock');
  })
  .then(() => document.body.setAttribute('data-shown', ''))
  .catch((error) => {
    const failure = document.createElement('p');
    failure.className = 'notice';
    failure.textContent = `The OpenAPI document could not be loaded: ${error.message}`;
    viewer.before(failure);
  });
