// Shows the document, with the service that this page comes from as the first server to try.
'use strict';

const basePathOf = ({ url, variables = {} }) => {
  const filledIn = url.replace(/\{(\w+)\}/g, (whole, name) => variables[name]?.default ?? whole);
  return new URL(filledIn, location.href).pathname;
};

fetch('openapi.json')
  .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`HTTP ${answer.status}`))))
  .then((spec) => {
    const here = { url: location.origin + basePathOf(spec.servers[0]), description: 'This service' };
    spec.servers.unshift(here);
    window.ui = SwaggerUIBundle({
      spec,
      dom_id: '#page',
      deepLinking: true,
      displayOperationId: true,
      // A badge that would send the document to somebody else's server.
      validatorUrl: null,
      onComplete: () => document.body.setAttribute('data-shown', ''),
    });
  })
  .catch((error) => {
    const failure = document.createElement('p');
    failure.className = 'failure';
    failure.textContent = `The OpenAPI document could not be loaded: ${error.message}`;
    document.body.append(failure);
  });
