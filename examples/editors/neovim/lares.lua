-- Lares in Neovim, 0.7 or newer: put this file into ~/.config/nvim/plugin/.

local documents = { "lares.yaml", "lares.yml", "lares.toml" }

--- The folder, this one or above, that has a lares.yaml; nil where there is none.
local function root_of(path)
  local folder = vim.fn.fnamemodify(path, ":p:h")
  while true do
    for _, name in ipairs(documents) do
      if vim.fn.filereadable(folder .. "/" .. name) == 1 then
        return folder
      end
    end
    local parent = vim.fn.fnamemodify(folder, ":h")
    if parent == folder then
      return nil
    end
    folder = parent
  end
end

local function request(client, method, params, handler)
  if vim.fn.has("nvim-0.11") == 1 then
    client:request(method, params, handler)
  else
    client.request(method, params, handler)
  end
end

--- Text from agents on one line, without control characters and marks that turn text around.
local function plain(text)
  return (text:gsub("%c", " "):gsub("\226\128[\142\143\168-\174]", "?"):gsub("\226\129[\166-\169]", "?"))
end

local function say(message, level)
  vim.notify("Lares: " .. message, level or vim.log.levels.INFO)
end

local function refresh_lenses()
  if not vim.lsp.codelens.enable then -- from 0.12 on, Neovim does it by itself
    vim.lsp.codelens.refresh()
  end
end

--- An action changed: what it wrote is read again, and its lenses come or go.
local function action_changed(_, action)
  if action.state == "PendingApproval" then
    say(("'%s' waits: see the code actions in %s"):format(plain(action.title), plain(action.effects[1].path)))
  end
  vim.cmd("silent! checktime")
  refresh_lenses()
end

local function notified(_, notice)
  say(plain(notice.agent .. ": " .. notice.title .. ". " .. notice.message))
end

local function ask_changed(_, ask)
  if ask.state == "Pending" then
    say(("a question waits: %s :LaresQuestions answers it."):format(plain(ask.title)))
  end
end

--- "Show changes": the diffs in a window of their own.
local function show_changes(command, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  request(client, "lares/actions/get", { id = command.arguments[1].id }, function(err, action)
    if err then
      return say(err.message, vim.log.levels.ERROR)
    end
    local lines = { plain(action.title), plain(action.reason), "" }
    for _, effect in ipairs(action.effects) do
      table.insert(lines, plain(effect.summary))
      vim.list_extend(lines, vim.split(effect.diff or "", "\n", { plain = true }))
    end
    vim.cmd("new")
    vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
    vim.bo.buftype, vim.bo.bufhidden, vim.bo.modifiable, vim.bo.filetype = "nofile", "wipe", false, "diff"
  end)
end

local clients = {} -- before 0.8: client id by root

local function attach(buffer)
  local path = vim.api.nvim_buf_get_name(buffer)
  local root = vim.bo[buffer].buftype == "" and path ~= "" and root_of(path)
  if not root then
    return
  end
  local config = {
    name = "lares",
    cmd = { "lares", "serve", "--stdio" },
    root_dir = root,
    handlers = {
      ["lares/actions/changed"] = action_changed,
      ["lares/asks/changed"] = ask_changed,
      ["lares/conversations/changed"] = refresh_lenses,
      ["lares/notify"] = notified,
    },
    commands = { ["lares.action.show"] = show_changes },
    on_init = function(client)
      request(client, "lares/status", vim.empty_dict(), function(_, status)
        if status and not status.trusted then
          say("no agent runs in this folder yet; :LaresTrust shows what they ask for.")
        end
      end)
    end,
  }
  if vim.lsp.start then
    vim.api.nvim_buf_call(buffer, function()
      vim.lsp.start(config)
    end)
  else
    if not (clients[root] and vim.lsp.get_client_by_id(clients[root])) then
      clients[root] = vim.lsp.start_client(config)
    end
    vim.lsp.buf_attach_client(buffer, clients[root])
    vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
  end
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = buffer })
  end
end

local function client_here()
  if vim.lsp.get_clients then
    return vim.lsp.get_clients({ bufnr = 0, name = "lares" })[1]
  end
  for _, client in pairs(vim.lsp.buf_get_clients(0)) do
    if client.name == "lares" then
      return client
    end
  end
end

vim.api.nvim_create_user_command("LaresTrust", function()
  local client = client_here()
  if not client then
    return say("this buffer is in no folder with a lares.yaml.", vim.log.levels.WARN)
  end
  request(client, "lares/status", vim.empty_dict(), function(err, status)
    if err or status.trusted then
      return say(err and err.message or "this folder is trusted.")
    end
    local asks = table.concat(vim.tbl_map(plain, status.trust.asks), "\n")
    local accept = "Let them"
    vim.ui.select({ accept, "No" }, { prompt = "Agents of this folder ask for:\n" .. asks }, function(choice)
      if choice ~= accept then
        return
      end
      request(client, "lares/trust", { trusted = true, digest = status.trust.digest }, function(refusal)
        say(refusal and refusal.message or "the agents of this folder run.")
      end)
    end)
  end)
end, { desc = "Show what the agents of this folder ask for, and let them run" })

local scopes = { once = "Allow once", conversation = "Allow in this conversation", always = "Allow always" }

--- Asks one question after the other, beginning with the oldest; one that is left without a choice goes on waiting.
local function ask_all(client, asks)
  local ask = table.remove(asks)
  if not ask then
    return
  end
  local choices = vim.tbl_map(function(scope)
    return { title = scopes[scope], answer = { id = ask.id, digest = ask.digest, allow = true, remember = scope } }
  end, ask.scopes)
  table.insert(choices, { title = "Deny", answer = { id = ask.id, digest = ask.digest, allow = false } })
  local from = #ask.sources > 0 and "\nIt follows from: " .. plain(table.concat(ask.sources, ", ")) or ""
  local prompt = plain(ask.title) .. "\n" .. plain(ask.reason) .. from
  local options = {
    prompt = prompt,
    format_item = function(choice)
      return choice.title
    end,
  }
  vim.ui.select(choices, options, function(choice)
    if not choice then
      return
    end
    request(client, "lares/asks/answer", choice.answer, function(refusal)
      if refusal then
        say(plain(refusal.message), vim.log.levels.WARN)
      end
      ask_all(client, asks)
    end)
  end)
end

vim.api.nvim_create_user_command("LaresQuestions", function()
  local client = client_here()
  if not client then
    return say("this buffer is in no folder with a lares.yaml.", vim.log.levels.WARN)
  end
  request(client, "lares/asks/list", { state = "Pending" }, function(err, asks)
    if err or #asks == 0 then
      return say(err and plain(err.message) or "no question waits.")
    end
    ask_all(client, asks)
  end)
end, { desc = "Answer the questions that agents wait for" })

local group = vim.api.nvim_create_augroup("lares", {})
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  group = group,
  callback = function(event)
    attach(event.buf)
  end,
})
vim.api.nvim_create_autocmd({ "BufEnter", "InsertLeave", "BufWritePost" }, {
  group = group,
  callback = function()
    if client_here() then
      refresh_lenses()
    end
  end,
})
