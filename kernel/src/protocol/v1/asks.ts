import { Type } from "typebox";
import { Ask, AskScope } from "../../base/vocabulary/ask.ts";
import { HashOf } from "../../base/vocabulary/common.ts";
import { Named } from "../../base/vocabulary/request-fields.ts";
import { define } from "../define.ts";

export const askRequests = define({
  "lares/asks/list": {
    about:
      "Returns questions that calls wait for, or waited for; newest first. The last 1,000 ended ones are known.",
    errors: {},
    params: Type.Object({
      state: Type.Optional(
        Type.Union(Ask.properties.state.anyOf, { description: "Only those in this state; default all" }),
      ),
    }),
    result: Type.Array(Ask, { description: "The questions" }),
  },
  "lares/asks/answer": {
    about:
      "Answers a question in a person's name and returns it once the answer is stored; only then does the waiting call continue.",
    errors: {
      NotFound: "There is no such question.",
      IllegalTransition: "It was answered already, or has expired. `data.state` says which.",
      DigestMismatch: "The question is another than the one that was shown. Show it again.",
      InvalidParams: "The question's `scopes` do not contain `remember`.",
      PermissionDenied: "Only a person can answer.",
    },
    params: Type.Object({
      id: Named("The question's id"),
      digest: HashOf("The question's digest, as it was shown"),
      allow: Type.Boolean({ description: "Whether what was asked may be done" }),
      remember: Type.Optional(AskScope),
    }),
    result: Ask,
  },
});
