-- A session of Neovim's built-in client with the language server. It prints what a designer sees, and how long each answer
-- took. Exit status 1 if something is missing.
--
-- Neovim 0.7 is the oldest version that this must work with, so newer functions are not used.

local root = assert(os.getenv('PROJECT'))
local command = vim.fn.json_decode(assert(os.getenv('SERVER')))
local document = root .. '/' .. assert(os.getenv('DOCUMENT'))
-- In milliseconds, for each wait. Nothing is expected to take as long.
local LIMIT = 240000
local SERIES = 100

local function say(text) io.stdout:write(text .. '\n') end

local function milliseconds(since) return (vim.loop.hrtime() - since) / 1e6 end

local function wait(what, condition)
  assert(vim.wait(LIMIT, condition, 1), what .. ' did not happen')
end

-- The diagnostics by URI, in the order of their lines.
local published = {}
local publish = vim.lsp.handlers['textDocument/publishDiagnostics']
vim.lsp.handlers['textDocument/publishDiagnostics'] = function(problem, result, ...)
  published[result.uri] = result.diagnostics
  return publish(problem, result, ...)
end

local function uri(path) return vim.uri_from_fname(path) end

local function found(path, rule)
  for _, diagnostic in ipairs(published[uri(path)] or {}) do
    if diagnostic.code == rule then return diagnostic end
  end
end

local function relative(path) return path:sub(#root + 2) end

local function show(path, diagnostic)
  local at = diagnostic.range.start
  say(('  %s:%d:%d %s: %s'):format(relative(path), at.line + 1, at.character + 1, diagnostic.code, diagnostic.message))
  for _, other in ipairs(diagnostic.relatedInformation or {}) do
    local place = other.location
    say(('    see %s:%d'):format(relative(vim.uri_to_fname(place.uri)), place.range.start.line + 1))
  end
end

-- Returns the line, from 1, and the column, from 0, of a text in the current buffer, after the line with `after`.
local function position(text, after)
  local is_after = after == nil
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
    local column = line:find(text, 1, true)
    if is_after and column then return number, column - 1 end
    is_after = is_after or line:find(after, 1, true) ~= nil
  end
  error(text .. ' is not in the buffer')
end

-- Replaces a text in the current buffer, and waits for what the server reports. Returns the milliseconds.
local function replace(old, new, after, what, condition)
  local line, column = position(old, after)
  local since = vim.loop.hrtime()
  vim.api.nvim_buf_set_text(0, line - 1, column, line - 1, column + #old, { new })
  wait(what, condition)
  return milliseconds(since)
end

local function save(what, condition)
  local since = vim.loop.hrtime()
  vim.cmd('silent write')
  wait(what, condition)
  return milliseconds(since)
end

local function put_cursor(text, after)
  local line, column = position(text, after)
  vim.api.nvim_win_set_cursor(0, { line, column })
end

local client

local function attach() assert(vim.lsp.buf_attach_client(0, client), 'the client is not attached') end

local function request(method, parameters)
  local since = vim.loop.hrtime()
  local responses, problem = vim.lsp.buf_request_sync(0, method, parameters, LIMIT)
  assert(responses, problem)
  local response = responses[client]
  assert(response and not response.err, vim.inspect(response))
  return response.result, milliseconds(since)
end

local function hover(text, after)
  put_cursor(text, after)
  local result, took = request('textDocument/hover', vim.lsp.util.make_position_params())
  assert(result and result.contents.value ~= '', 'no hover')
  return result.contents.value, took
end

-- Jumps as a person does. Returns the new place.
local function jump()
  local before = { vim.api.nvim_get_current_buf(), unpack(vim.api.nvim_win_get_cursor(0)) }
  local now
  vim.lsp.buf.definition()
  wait('a jump', function()
    now = { vim.api.nvim_get_current_buf(), unpack(vim.api.nvim_win_get_cursor(0)) }
    return not vim.deep_equal(before, now)
  end)
  return ('%s:%d  %s'):format(relative(vim.api.nvim_buf_get_name(0)), now[2], vim.trim(vim.api.nvim_get_current_line()))
end

-- Opens the document. Returns the milliseconds until it was checked.
local function open()
  vim.o.hidden = true
  vim.cmd('edit ' .. vim.fn.fnameescape(document))
  local since = vim.loop.hrtime()
  client = assert(vim.lsp.start_client({
    name = 'animal-store',
    cmd = command,
    root_dir = root,
    flags = { debounce_text_changes = 0 },
  }))
  attach()
  wait('the first check', function() return published[uri(document)] ~= nil end)
  return milliseconds(since)
end

local function close()
  assert(not vim.lsp.client_is_stopped(client), 'the server has ended')
  vim.lsp.stop_client(client)
  wait('the end of the server', function() return vim.lsp.client_is_stopped(client) end)
end

local function session()
  say(('the document is open and checked after %.0f ms: %d diagnostics'):format(open(), #published[uri(document)]))

  say('\nafter a change of a maximum, without saving:')
  local operation = 'operationId: listBooks'
  local took = replace('maximum: 100', 'maximum: 50', operation, 'the breaking change',
    function() return found(document, 'request-max-decreased') ~= nil end)
  show(document, found(document, 'request-max-decreased'))
  say(('  shown after %.0f ms'):format(took))

  say('\nafter saving it, at both ends:')
  local rust = root .. '/src/operations/list_books.rs'
  took = save('the drift', function() return found(document, 'schema-differs') and found(rust, 'schema-differs') end)
  show(document, found(document, 'schema-differs'))
  show(rust, found(rust, 'schema-differs'))
  say(('  shown after %.0f ms'):format(took))

  say('\na quick fix:')
  local drift = found(document, 'schema-differs')
  local actions = request('textDocument/codeAction', {
    textDocument = { uri = uri(document) },
    range = drift.range,
    context = { diagnostics = { drift } },
  })
  assert(actions and #actions > 0, 'no quick fix')
  say('  offered: ' .. actions[1].title)
  vim.lsp.util.apply_workspace_edit(actions[1].edit, vim.lsp.get_client_by_id(client).offset_encoding)
  position('maximum: 100', operation)
  wait('no breaking change', function() return found(document, 'request-max-decreased') == nil end)
  save('no drift', function() return not found(document, 'schema-differs') and not found(rust, 'schema-differs') end)
  say('  applied and saved; all three diagnostics are gone')

  say('\nhover on `getBook`:')
  local text
  text, took = hover('getBook')
  say('  ' .. text:gsub('\n', '\n  '))
  say(('  answered after %.1f ms'):format(took))

  say('\njump from `getBook` to the code:')
  say('  ' .. jump())
  assert(vim.api.nvim_buf_get_name(0):match('%.rs$'), 'the jump did not lead to the code')
  vim.cmd('buffer ' .. vim.fn.fnameescape(document))

  say(('\n%d requests for a hover, each right after a typed character:'):format(SERIES))
  local line = position('title: Library')
  local durations = {}
  for _ = 1, SERIES do
    vim.api.nvim_buf_set_text(0, line - 1, 16, line - 1, 16, { 'x' })
    local _, duration = hover('listBooks')
    table.insert(durations, duration)
  end
  table.sort(durations)
  say(('  median %.1f ms, longest %.1f ms'):format(durations[SERIES / 2], durations[SERIES]))
  close()
end

local fine, problem = xpcall(session, debug.traceback)
if not fine then
  say('failed: ' .. tostring(problem))
  vim.cmd('cquit 1')
end
vim.cmd('qall!')
