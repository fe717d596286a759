import { Type } from "typebox";
import { ModelsListing, ModelTestResult } from "../../base/vocabulary/model-listing.ts";
import { define } from "../define.ts";

export const modelRequests = define({
  "lares/models/list": {
    about:
      "Returns the providers, models and routes of the user's document, or what was found where it names none. Asks the network only with `refresh`.",
    errors: {},
    params: Type.Object({
      refresh: Type.Optional(
        Type.Boolean({
          default: false,
          description: "Asks each provider which models it has; otherwise `state` is what was seen last",
        }),
      ),
    }),
    result: ModelsListing,
  },
  "lares/models/test": {
    about: "Sends a short request to a model and returns whether it answers. The request counts as usage.",
    errors: { BudgetExceeded: "A budget of the user's document does not allow the request." },
    params: Type.Object({
      model: Type.String({
        minLength: 1,
        maxLength: 322,
        description: "`provider/model`",
        examples: ["ollama/qwen3"],
      }),
    }),
    result: ModelTestResult,
  },
});
