// Tests of a client in TypeScript, of the working document: types by openapi-typescript, requests by openapi-fetch.
// The example for users is openapi/examples/client.ts.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Failure = components["schemas"]["Error"];
type Pet = components["schemas"]["Pet"];
type NewPet = components["schemas"]["NewPet"];

const baseUrl = process.env.SERVICE_URL!;
const key = process.env.SERVICE_KEY!;
const headers = { Authorization: `Bearer ${key}` };
const client = createClient<paths>({ baseUrl, headers });
const anonymous = createClient<paths>({ baseUrl });

// Does not compile if errors are not typed by the document.
function failed(what: string, error: Failure | undefined, response: Response, status: number, code: string) {
  assert.ok(error, `${what} should have failed`);
  assert.deepEqual([response.status, error.status, error.code], [status, status, code]);
  console.log(`${what}: ${error.status} ${error.code}: ${error.message}`);
}

const added: Pet[] = [];
await client.POST("/pets", { body: { name: "Alive", categoryId: 3, status: "available" } });
for (const name of ["Ada", "Bo", "Cleo"]) {
  const { data, response } = await client.POST("/pets", { body: { name, categoryId: 3, status: "sold" } });
  assert.equal(response.status, 201);
  assert.ok(data);
  assert.equal(response.headers.get("location"), `/v1/pets/${data.id}`);
  added.push(data);
}
console.log(`added ${added.map(({ id, name }) => `${id} ${name}`).join(", ")}`);

const add = (body: NewPet, key: string) =>
  client.POST("/pets", { body, params: { header: { "Idempotency-Key": `"${key}"` } } });
const retryKey = crypto.randomUUID();
const first = await add({ name: "Dora", categoryId: 3 }, retryKey);
const repeated = await add({ name: "Dora", categoryId: 3 }, retryKey);
assert.ok(first.data);
assert.deepEqual(repeated.data, first.data);
assert.equal(first.response.headers.get("idempotency-replayed"), null);
assert.equal(repeated.response.headers.get("idempotency-replayed"), "?1");
const reused = await add({ name: "Emil", categoryId: 3 }, retryKey);
failed("a reused key", reused.error, reused.response, 422, "idempotency_key_reused");
console.log(`added ${first.data.id} ${first.data.name} once, with two requests`);

const pages: number[] = [];
const sold: Pet[] = [];
let cursor: string | undefined;
do {
  const { data, response } = await client.GET("/pets", { params: { query: { limit: 2, status: "sold", cursor } } });
  assert.ok(data);
  pages.push(data.length);
  sold.push(...data);
  const next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  cursor = next && (new URL(next, baseUrl).searchParams.get("cursor") ?? undefined);
} while (cursor);
assert.deepEqual([sold, pages], [added, [2, 1]]);
console.log(`listed ${sold.length} sold animals on pages of ${pages.join(", ")}`);

const one = await client.GET("/pets/{petId}", { params: { path: { petId: added[0].id } } });
assert.deepEqual(one.data, added[0]);
assert.ok(one.response.headers.has("sunset"));
console.log(`fetched ${one.data?.name}`);

const tooMany = await client.GET("/pets", { params: { query: { limit: 101 } } });
failed("a limit of 101", tooMany.error, tooMany.response, 400, "invalid_parameter");
const nameless = await client.POST("/pets", { body: { name: "", categoryId: 3 } });
failed("an empty name", nameless.error, nameless.response, 400, "invalid_body");
const keyless = await anonymous.GET("/pets");
failed("no key", keyless.error, keyless.response, 401, "unauthorized");
const missing = await client.GET("/pets/{petId}", { params: { path: { petId: -1 } } });
failed("a missing animal", missing.error, missing.response, 404, "not_found");

// An int64 that a JavaScript number cannot represent: 2^53 + 1.
const exact = "9007199254740993";
const big = await fetch(`${baseUrl}/pets`, {
  method: "POST",
  headers: { ...headers, "Content-Type": "application/json" },
  body: `{"name":"Big","categoryId":${exact}}`,
});
assert.equal(big.status, 201);
const path = { petId: JSON.parse(await big.text()).id as number };
const asNumber = (await client.GET("/pets/{petId}", { params: { path } })).data?.categoryId;
const asText = (await client.GET("/pets/{petId}", { params: { path }, parseAs: "text" })).data;
assert.equal(String(asNumber), "9007199254740992");
assert.match(asText!, new RegExp(`"categoryId":${exact}\\b`));
console.log(`${exact} becomes the number ${asNumber}; with parseAs "text" it is still ${exact}`);
console.log("created, listed, followed, fetched; a 400 twice, a 401 and a 404 as typed errors; int64 rounded beyond 2^53");
