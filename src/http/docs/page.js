// Shows the document, with the service that this page comes from as the first server to try.
'use strict';

const basePathOf = ({ url, variables = {} }) => {
  const filledIn = url.replace(/\{(\w+)\}/g, (whole, name) => variables[name]?.default ?? whole);
  return new URL(filledIn, location.href).pathname;
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
  const contents = document.getElementById('contents');
  const entry = (text, target) => {
    const link = document.createElement('a');
    link.href = `#${target.id}`;
    link.textContent = text;
    // The viewer keeps the fragment for itself.
    link.addEventListener('click', (event) => {
      event.preventDefault();
      target.scrollIntoView({ behavior: 'smooth' });
    });
    contents.append(link);
  };
  entry('Operations', document.querySelector('#page .scheme-container'));
  for (const heading of document.querySelectorAll('#page .info .renderedMarkdown h2')) {
    entry(heading.textContent, heading);
  }
};

const explain = () => {
  const howTo = document.createElement('p');
  howTo.className = 'how-to wrapper';
  howTo.textContent =
    'To try an operation, press Authorize and enter your key; open the operation, press Try it out, and Execute. ' +
    'The key stays in this page and is forgotten when you leave it.';
  document.querySelector('#page .scheme-container').append(howTo);
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

fetch('openapi.json')
  .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`HTTP ${answer.status}`))))
  .then((spec) => {
    const here = { url: location.origin + basePathOf(spec.servers[0]), description: 'This service' };
    spec.servers.unshift(here);
    SwaggerUIBundle({
      spec,
      dom_id: '#page',
      deepLinking: true,
      displayOperationId: true,
      plugins: [exactDigits],
      // A badge that would send the document to somebody else's server.
      validatorUrl: null,
    });
    return appeared('#page .opblock');
  })
  .then(() => {
    fillContents();
    explain();
    document.body.setAttribute('data-shown', '');
  })
  .catch((error) => {
    const failure = document.createElement('p');
    failure.className = 'failure';
    failure.textContent = `The OpenAPI document could not be loaded: ${error.message}`;
    document.body.append(failure);
  });
