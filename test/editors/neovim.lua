-- What a person does in Neovim, step by step; what they see is written down for the test.
local report = {}
local root = vim.env.LARES_WORKSPACE
local note = root .. "/notes/shopping list.md"

local function finish(fault)
  report.fault = fault and tostring(fault) or nil
  local file = assert(io.open(vim.env.LARES_REPORT, "w"))
  file:write(vim.json.encode(report))
  file:close()
  vim.cmd("qall!")
end

local function wait_for(what, look)
  local found
  local patience_ms, interval_ms = 120000, 20
  vim.wait(patience_ms, function()
    found = look()
    return found
  end, interval_ms)
  return found or error("never came: " .. what .. "; messages: " .. vim.fn.execute("messages"))
end

--- Whoever is asked to choose takes the one whose title begins so; what was offered is kept.
local function choosing(wanted)
  vim.ui.select = function(items, options, on_choice)
    local format = options.format_item or tostring
    report.offered = vim.tbl_map(format, items)
    report.prompt = options.prompt
    for _, item in ipairs(items) do
      if vim.startswith(format(item), wanted) then
        return on_choice(item)
      end
    end
    error(wanted .. " is not among " .. vim.inspect(report.offered))
  end
end

local function titles_here()
  local params = vim.lsp.util.make_range_params(0, "utf-16")
  params.context = { diagnostics = {} }
  local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 30000) or {}
  local titles = {}
  for _, answer in pairs(answers) do
    for _, action in ipairs(answer.result or {}) do
      table.insert(titles, action.title)
    end
  end
  return titles
end

local function has_title(start)
  for _, title in ipairs(titles_here()) do
    if vim.startswith(title, start) then
      return true
    end
  end
end

local function on_disk(path)
  return table.concat(vim.fn.readfile(path, "b"), "\n")
end

local function steps()
  vim.cmd("edit " .. vim.fn.fnameescape(root .. "/broken/extension.yaml"))
  wait_for("diagnostics", function()
    return #vim.diagnostic.get(0) > 0
  end)
  report.diagnostics = vim.tbl_map(function(each)
    return { line = each.lnum, message = each.message, source = each.source }
  end, vim.diagnostic.get(0))

  vim.cmd("edit! " .. vim.fn.fnameescape(root .. "/lares.yaml"))
  vim.cmd("normal! Go")
  local params = vim.lsp.util.make_position_params(0, "utf-16")
  local completed = vim.lsp.buf_request_sync(0, "textDocument/completion", params, 30000) or {}
  for _, answer in pairs(completed) do
    local items = answer.result and (answer.result.items or answer.result) or {}
    report.completion = vim.tbl_map(function(item)
      return item.label
    end, items)
  end
  vim.cmd("edit!")

  choosing("Let them")
  vim.cmd("LaresTrust")
  wait_for("trust", function()
    return vim.fn.execute("messages"):find("the agents of this folder run")
  end)
  report.trust_prompt = report.prompt

  local answer
  vim.lsp.buf_request(
    0,
    "lares/tools/call",
    { agent = "test.asker", name = "ask", arguments = vim.empty_dict() },
    function(err, result)
      answer = result or err
    end
  )
  wait_for("the question", function()
    return vim.fn.execute("messages"):find("a question waits: May test.asker use")
  end)
  choosing("Deny")
  vim.cmd("LaresQuestions")
  wait_for("the answer", function()
    return answer
  end)
  report.question = { prompt = report.prompt, offered = report.offered, answer = answer.value }

  vim.cmd("edit " .. vim.fn.fnameescape(note))
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "milk", "bread" })
  vim.cmd("write")
  wait_for("the code action", function()
    return has_title("Lares: approve")
  end)
  wait_for("the lenses", function()
    vim.lsp.codelens.refresh()
    return #vim.lsp.codelens.get(0) > 0
  end)
  report.lenses = vim.tbl_map(function(lens)
    return { line = lens.range.start.line, title = lens.command.title }
  end, vim.lsp.codelens.get(0))

  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  choosing("Show changes")
  vim.lsp.codelens.run()
  wait_for("the window with the changes", function()
    return vim.bo.filetype == "diff"
  end)
  report.changes = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.cmd("close")

  choosing("Lares: approve")
  vim.lsp.buf.code_action()
  wait_for("the change on the disk", function()
    return vim.startswith(on_disk(note), "# ")
  end)
  report.approved = on_disk(note)
  wait_for("the change in the buffer", function()
    return vim.startswith(vim.api.nvim_buf_get_lines(0, 0, 1, false)[1], "# ")
  end)
  report.modified = vim.bo.modified

  wait_for("the undo", function()
    return has_title("Lares: undo")
  end)
  choosing("Lares: undo")
  vim.lsp.buf.code_action()
  wait_for("the undo on the disk", function()
    return vim.startswith(on_disk(note), "milk")
  end)
  report.undone = on_disk(note)
end

local function buffer_text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

local function type_at_end(...)
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { ... })
end

local function lens_titles()
  vim.lsp.codelens.refresh()
  return vim.tbl_map(function(lens)
    return lens.command.title
  end, vim.lsp.codelens.get(0))
end

local function trust()
  choosing("Let them")
  vim.cmd("LaresTrust")
  wait_for("trust", function()
    return vim.fn.execute("messages"):find("the agents of this folder run")
  end)
end

--- A conversation in a file that is new.
local function talk()
  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.LARES_TALK))
  wait_for("the server", function()
    return #vim.lsp.buf_get_clients(0) > 0
  end)
  trust()
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "## You", "", "hello" })
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  wait_for("the lens", function()
    return vim.startswith(lens_titles()[1] or "", "Lares: send")
  end)
  report.lens = lens_titles()[1]
  vim.lsp.codelens.run()
  wait_for("the answer", function()
    return buffer_text():find("- one\n\n## You\n")
  end)

  vim.cmd("write")
  type_at_end("soon")
  wait_for("the code action", function()
    return has_title("Lares: send to Steward")
  end)
  choosing("Lares: send to Steward")
  vim.lsp.buf.code_action()
  report.working = wait_for("the work", function()
    local titles = lens_titles()
    return #titles == 2 and titles
  end)
  type_at_end("", "and then")
  wait_for("the second answer", function()
    return buffer_text():find("Here it is\n\n## You\n")
  end)
  report.text = buffer_text()
  wait_for("the next message to be offered", function()
    return has_title("Lares: send to Steward")
  end)
  report.waits = titles_here()
end

vim.schedule(function()
  local ok, fault = xpcall(vim.env.LARES_STEPS == "talk" and talk or steps, debug.traceback)
  finish(not ok and fault or nil)
end)
