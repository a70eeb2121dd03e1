-- The session of Neovim in the picture: an edit of the document, which is not saved, and what the language server says about
-- it. Runs in a pane of tmux, and writes what the pane shows. The first lines make the default colours those of a terminal.

vim.o.background = assert(os.getenv('BACKGROUND'))
vim.cmd('syntax on')
for _, group in ipairs({ 'NormalFloat', 'FloatBorder', 'Special' }) do vim.cmd('highlight! link ' .. group .. ' Normal') end
vim.cmd('highlight LineNr ctermfg=DarkGray')
vim.o.laststatus, vim.o.ruler, vim.o.showmode = 0, false, false
vim.o.signcolumn, vim.o.number, vim.o.wrap = 'no', true, false
vim.diagnostic.config({ virtual_text = false })

vim.cmd('edit openapi/animal-store.yaml')
vim.lsp.start_client({
  name = 'animal-store',
  cmd = { os.getenv('XTASK'), 'lsp' },
  root_dir = vim.fn.getcwd(),
  on_init = function(client) vim.lsp.buf_attach_client(0, client.id) end,
})
local edited = vim.fn.search('maximum: 100')
vim.fn.setline(edited, (vim.fn.getline(edited):gsub('100', '50')))
local function found() return #vim.diagnostic.get(0, { lnum = edited - 1 }) > 0 end
assert(vim.wait(60000, found, 10), 'the server reported nothing')

vim.fn.winrestview({ topline = edited - 7 })
vim.diagnostic.open_float({ scope = 'line', focusable = false, border = 'single', header = '', prefix = '' })
vim.cmd('redraw!')
vim.fn.system('tmux capture-pane -e -p -t "$TMUX_PANE" >"$PICTURE"')
