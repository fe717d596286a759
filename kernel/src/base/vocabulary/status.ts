import { Type, type Static } from "typebox";
import { HashOf } from "./common.ts";

export const Status = Type.Object(
  {
    version: Type.String({ description: "The kernel's version" }),
    pid: Type.Integer({ description: "The kernel's process id" }),
    ready: Type.Boolean({
      description:
        "The documents are loaded, the index is complete and the watcher runs, so every later change is an event. A broken extension does not delay it",
    }),
    workspace: Type.String({
      description: "Absolute path of the workspace; of the first root where it has several",
    }),
    stateFolder: Type.String({ description: "Absolute path of the folder where the kernel keeps its state" }),
    trusted: Type.Boolean({ description: "Whether this connection is trusted" }),
    trust: Type.Object(
      {
        digest: HashOf("Identifies the documents, manifests and programs as they are now"),
        asks: Type.Array(Type.String(), {
          description: "Everything that the documents ask for, one sentence each",
        }),
        pending: Type.Array(Type.String(), {
          description:
            "What a yes would add to what is in force, one sentence each; withheld parts included. Empty where nothing waits",
        }),
        changedPrograms: Type.Array(Type.String(), {
          description:
            "Ids of accepted extensions whose changed program is all that waits; empty where anything else waits too",
        }),
      },
      { description: "What the documents ask for, and what of it still waits for a person" },
    ),
    agents: Type.Integer({ minimum: 0, description: "How many agents there are" }),
    index: Type.Object(
      {
        entries: Type.Integer({ minimum: 0, description: "Files and folders in the index" }),
        complete: Type.Boolean({ description: "Every location was listed once since the kernel started" }),
      },
      { description: "The index of the workspace" },
    ),
    clients: Type.Integer({ minimum: 0, description: "Clients of the kernel, this one included" }),
    lasting: Type.Boolean({
      description:
        "It would not end by itself now if its clients left: it was started to stay, or something that a person began runs",
    }),
    rehearsal: Type.Optional(
      Type.Object(
        {
          script: Type.String({ description: "Absolute path of the script" }),
          run: Type.Optional(Type.String({ description: "Names the run for which the script answers" })),
        },
        { description: "A script answers instead of all models" },
      ),
    ),
    pendingActions: Type.Integer({ minimum: 0, description: "Actions that wait for a person" }),
    idle: Type.Boolean({
      description:
        "The workspace is trusted, indexed and hashed, and no agent has anything in hand or waiting",
    }),
    totals: Type.Object(
      {
        events: Type.Integer({
          minimum: 0,
          description: "Events that agents' handlers answered, with success or an error",
        }),
        actions: Type.Integer({ minimum: 0, description: "Actions that agents proposed" }),
        refusals: Type.Integer({ minimum: 0, description: "Host calls that policy refused" }),
      },
      { description: "Counts since this kernel started" },
    ),
  },
  { description: "The state of the kernel and of this connection" },
);
export type Status = Static<typeof Status>;
