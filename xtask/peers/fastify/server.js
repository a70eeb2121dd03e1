// The three operations of the service with fastify and better-sqlite3, in one process for each processor. The database is
// one that the service created.
//
// Argument: the file of the database.

import cluster from 'node:cluster'
import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import Database from 'better-sqlite3'
import fastify from 'fastify'

const status = { type: 'string', enum: ['available', 'pending', 'sold'] }
const pet = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status
  },
  required: ['id', 'name', 'categoryId']
}
const newPet = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255 },
    categoryId: { type: 'integer' },
    status
  },
  required: ['name', 'categoryId'],
  additionalProperties: false
}
const page = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    cursor: { type: 'integer', default: 0 }
  },
  additionalProperties: false
}
const id = { type: 'object', properties: { id: { type: 'integer' } } }

// SQL NULL is an absent member.
function toPet (row) {
  if (row.status === null) delete row.status
  return row
}

async function serve (file) {
  const database = new Database(file, { timeout: 10000 })
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  const columns = 'id, name, category_id AS categoryId, status'
  const select = database.prepare(`SELECT ${columns} FROM animal WHERE id = ?`)
  const list = database.prepare(`SELECT ${columns} FROM animal WHERE id > ? ORDER BY id LIMIT ?`)
  const insert = database.prepare(`INSERT INTO animal (name, category_id, status) VALUES (?, ?, ?) RETURNING ${columns}`)
  const hashes = database.prepare('SELECT hash FROM api_key WHERE revoked IS NULL').pluck().all()
  const keys = new Set(hashes.map(hash => hash.toString('hex')))

  const app = fastify({ logger: { file: '/dev/stderr' } })
  app.addHook('onRequest', async (request, reply) => {
    const [, key = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
    if (!keys.has(createHash('sha256').update(key).digest('hex'))) {
      return reply.code(401).send({ status: 401, message: 'Unauthorized' })
    }
  })
  app.get('/v1/pets/:id', { schema: { params: id, response: { 200: pet } } }, async (request, reply) => {
    const row = select.get(request.params.id)
    if (row === undefined) return reply.code(404).send({ status: 404, message: 'Not Found' })
    return toPet(row)
  })
  const pets = { type: 'array', items: pet }
  app.get('/v1/pets', { schema: { querystring: page, response: { 200: pets } } }, async (request, reply) => {
    const { limit, cursor } = request.query
    const rows = list.all(cursor, limit)
    if (rows.length === limit) {
      reply.header('link', `</v1/pets?limit=${limit}&cursor=${rows[rows.length - 1].id}>; rel="next"`)
    }
    return rows.map(toPet)
  })
  app.post('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, async (request, reply) => {
    const { name, categoryId, status } = request.body
    const row = insert.get(name, categoryId, status ?? null)
    return reply.code(201).header('location', `/v1/pets/${row.id}`).send(toPet(row))
  })
  // The workers of a cluster share the port that the first one gets.
  process.send(await app.listen({ host: '127.0.0.1', port: 0 }))
}

if (cluster.isPrimary) {
  let ready = 0
  const workers = availableParallelism()
  for (let worker = 0; worker < workers; worker++) cluster.fork()
  cluster.on('message', (worker, address) => {
    ready += 1
    if (ready === workers) console.log(`ready: ${address}`)
  })
} else {
  await serve(process.argv[2])
}
