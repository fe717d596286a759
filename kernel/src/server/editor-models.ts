import { isLaresError } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { newId } from "../base/ids.ts";
import {
  GeneratedPart,
  kernelRequests,
  type GenerateParams,
  type OfferedResult,
} from "../protocol/v1/kernel-requests.ts";
import { checkParams } from "../protocol/validate.ts";
import type { EditorModel, EditorModels, EditorPart } from "../services/editor-models.ts";
import type { Session } from "./session/session.ts";

const method = "lares/models/generate";
const offered = "lares/models/offered";

/** True if the client says that it has language models. */
export function offersModels({ capabilities }: Session): boolean {
  const { experimental } = capabilities;
  const lares = isJsonObject(experimental) ? experimental["lares"] : undefined;
  return isJsonObject(lares) && lares["languageModels"] === true;
}

/** The language models of one client, asked by `lares/models/generate`. */
class ClientModels implements EditorModel {
  readonly #session: Session;
  /** Receives the text for a token; absent once its request has ended. */
  readonly #open = new Map<string, (value: unknown) => void>();

  constructor(session: Session) {
    this.#session = session;
    session.endpoint.onNotification("$/progress", (params) => {
      if (!isJsonObject(params) || typeof params["token"] !== "string") return;
      this.#open.get(params["token"])?.(params["value"]);
    });
  }

  list: EditorModel["list"] = async (signal) => {
    const { result } = kernelRequests[offered];
    try {
      const answer = await this.#session.endpoint.request(offered, {}, signal);
      checkParams(offered, result, answer);
      return (answer as OfferedResult).models;
    } catch (error) {
      if (isLaresError(error, "MethodNotFound")) return [{ id: "default" }];
      throw error;
    }
  };

  generate: EditorModel["generate"] = async (request, onPart, signal) => {
    const { model, messages, tools, maxOutputTokens, temperature } = request;
    const token = `lares-generate-${newId()}`;
    const failure = Promise.withResolvers<never>();
    this.#open.set(token, (value) => {
      try {
        checkParams(method, GeneratedPart, value);
        onPart(value as EditorPart);
      } catch (error) {
        failure.reject(error);
      }
    });
    const params: GenerateParams = {
      model,
      messages: messages as GenerateParams["messages"],
      ...(tools === undefined ? {} : { tools: [...tools] }),
      ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      partialResultToken: token,
    };
    try {
      const answer = await Promise.race([
        this.#session.endpoint.request(method, params, signal),
        failure.promise,
      ]);
      const { result } = kernelRequests[method];
      checkParams(method, result, answer);
      return answer as Awaited<ReturnType<EditorModel["generate"]>>;
    } finally {
      this.#open.delete(token);
    }
  };
}

/** Offers the client's models as long as the client is trusted, until the result is disposed. */
export function offerModels(session: Session, editorModels: EditorModels): Disposable {
  const models = new ClientModels(session);
  let offered: Disposable | null = null;
  const update = (): void => {
    if (session.trusted) offered ??= editorModels.add(models);
    else {
      offered?.[Symbol.dispose]();
      offered = null;
    }
  };
  update();
  const listening = session.client.trustChanged.on(update);
  return {
    [Symbol.dispose]() {
      listening[Symbol.dispose]();
      offered?.[Symbol.dispose]();
    },
  };
}
