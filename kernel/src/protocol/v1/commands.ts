import { Type } from "typebox";
import { defineParams } from "../define.ts";
import { EffectIndex } from "../../base/vocabulary/approval.ts";
import { actionRequests } from "./actions.ts";
import { agentRequests } from "./agents.ts";
import type { CommandName } from "./capabilities.ts";
import { ActionId, AgentId, Named } from "../../base/vocabulary/request-fields.ts";

const ChatUri = Type.String({
  minLength: 1,
  maxLength: 8_192,
  description: "The file's URI, as it was opened",
});

/** The commands of `workspace/executeCommand`; `arguments` contains one object of this form. */
export const commandShapes = defineParams({
  "lares.agent.control": {
    about: "Does and answers what `lares/agents/control` does.",
    params: agentRequests["lares/agents/control"].params,
  },
  "lares.agent.traces": {
    about:
      "Shows an agent's newest traces as `window/showMessage`. A client with a view of its own for traces runs this command itself.",
    params: Type.Object({
      id: AgentId,
      hook: Type.Optional(Named("Only traces of this handler")),
    }),
  },
  "lares.action.approve": {
    about: "Does and answers what `lares/actions/approve` does.",
    params: actionRequests["lares/actions/approve"].params,
  },
  "lares.action.reject": {
    about: "Does and answers what `lares/actions/reject` does.",
    params: actionRequests["lares/actions/reject"].params,
  },
  "lares.action.undo": {
    about: "Does and answers what `lares/actions/undo` does.",
    params: actionRequests["lares/actions/undo"].params,
  },
  "lares.action.rebase": {
    about: "Does and answers what `lares/actions/rebase` does.",
    params: actionRequests["lares/actions/rebase"].params,
  },
  "lares.action.show": {
    about:
      "Answers an action with its diffs and shows them, or one effect's, as `window/showMessage`. A client with a view of its own for actions runs this command itself.",
    params: Type.Object({ id: ActionId, effect: Type.Optional(EffectIndex) }),
  },
  "lares.chat.send": {
    about:
      "Sends what stands below the last `## You` of an open file whose name ends with `.chat.md`, as `lares/conversations/send` does; answers null once it is sent. The answer is written below it by `workspace/applyEdit`, to this client alone.",
    params: Type.Object({
      uri: ChatUri,
      agent: Type.Optional(
        Named("The agent; default the one of the file's conversation, or the only one with a mind"),
      ),
    }),
  },
  "lares.chat.stop": {
    about: "Stops what runs in the conversation of an open `.chat.md` file.",
    params: Type.Object({ uri: ChatUri }),
  },
  "lares.chat.write": {
    about: "Writes an answer that is missing in an open `.chat.md` file, by `workspace/applyEdit`.",
    params: Type.Object({ uri: ChatUri }),
  },
  "lares.chat.begin": {
    about: "Adds `## You` at the end of an open `.chat.md` file, by `workspace/applyEdit`.",
    params: Type.Object({ uri: ChatUri }),
  },
}) satisfies Record<CommandName, unknown>;
