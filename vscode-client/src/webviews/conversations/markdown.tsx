import MarkdownIt, { type Token } from "markdown-it";
import type { ComponentChildren, VNode } from "preact";
import { line, whole } from "../shared/text.ts";
import { addressOf } from "./address.ts";

/** Actions that a text can request; the page decides, the text only names them. */
export interface MarkdownActs {
  openLink(address: string): void;
  copy(text: string): void;
}

/** Characters of one text that are drawn as Markdown; more of it is drawn as it is. */
const maxMarkdownCharacters = 60_000;

const parser = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable([
  "image",
  "autolink",
  "html_block",
  "html_inline",
  "reference",
]);
// The types do not know it.
Object.assign(parser.options, { maxNesting: 30 });
// Anything else stays as it was written, so that its address is read and never followed.
parser.validateLink = (address) => addressOf(address) !== undefined;
parser.normalizeLink = (address) => address;

/**
 * Draws a model's text: structure, code and emphasis. Images, HTML and other addresses than those of the web stay text,
 * and a link shows its whole address. Nothing but what stands here can become an element.
 */
export function Markdown({ text, acts }: { readonly text: string; readonly acts: MarkdownActs }): VNode {
  const shown = whole(text);
  if (shown.length > maxMarkdownCharacters) return <pre class="plain">{shown}</pre>;
  return <div class="markdown">{childrenOf(parser.parse(shown, {}), acts)}</div>;
}

/** Returns the words of the first `maxCharacters` of a text on one line, without the marks of Markdown. */
export function plainOf(text: string, maxCharacters: number): string {
  const words = (tokens: readonly Token[]): string =>
    tokens
      .map(({ type, content, children }) => {
        if (type === "inline") return words(children ?? []);
        if (type === "text" || type === "code_inline") return content;
        // An emphasis does not divide a word.
        return inWords.test(type) ? "" : `\n${content}\n`;
      })
      .join("");
  return line(words(parser.parse(whole(text.slice(0, maxCharacters)), {})), maxCharacters).trim();
}
const inWords = /^(em|strong|s|link)_/;

interface Open {
  readonly token: Token | undefined;
  readonly children: ComponentChildren[];
}

function childrenOf(tokens: readonly Token[], acts: MarkdownActs): ComponentChildren[] {
  const stack: Open[] = [{ token: undefined, children: [] }];
  const put = (child: ComponentChildren): void => void stack.at(-1)?.children.push(child);
  for (const token of tokens) {
    if (token.nesting === 1) stack.push({ token, children: [] });
    else if (token.nesting === -1) {
      const open = stack.pop();
      if (open?.token !== undefined) put(element(open.token, open.children, acts));
    } else put(leaf(token, acts));
  }
  return stack[0]?.children ?? [];
}

function element(token: Token, children: ComponentChildren[], acts: MarkdownActs): ComponentChildren {
  switch (token.type) {
    case "paragraph_open":
      // The paragraphs of a tight list are not elements.
      return token.hidden ? children : <p>{children}</p>;
    case "heading_open":
      // The page's own headings come first.
      return (
        <p
          class={`heading level-${token.tag.slice(1)}`}
          role="heading"
          aria-level={Math.min(6, Number(token.tag.slice(1)) + 2)}
        >
          {children}
        </p>
      );
    case "blockquote_open":
      return <blockquote>{children}</blockquote>;
    case "bullet_list_open":
      return <ul>{children}</ul>;
    case "ordered_list_open": {
      const start = Number(token.attrGet("start") ?? 1);
      return <ol start={Number.isSafeInteger(start) ? start : 1}>{children}</ol>;
    }
    case "list_item_open":
      return <li>{children}</li>;
    case "em_open":
      return <em>{children}</em>;
    case "strong_open":
      return <strong>{children}</strong>;
    case "s_open":
      return <s>{children}</s>;
    case "link_open":
      return (
        <Link address={token.attrGet("href") ?? ""} acts={acts}>
          {children}
        </Link>
      );
    case "table_open":
      return (
        <div class="table" role="region" aria-label="Table" tabIndex={0}>
          <table>{children}</table>
        </div>
      );
    case "thead_open":
      return <thead>{children}</thead>;
    case "tbody_open":
      return <tbody>{children}</tbody>;
    case "tr_open":
      return <tr>{children}</tr>;
    case "th_open":
      return <th>{children}</th>;
    case "td_open":
      return <td>{children}</td>;
    default:
      return children;
  }
}

function leaf(token: Token, acts: MarkdownActs): ComponentChildren {
  switch (token.type) {
    case "inline":
      return childrenOf(token.children ?? [], acts);
    case "softbreak":
      return "\n";
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    case "code_inline":
      return <code>{token.content}</code>;
    case "fence":
    case "code_block":
      return <Code text={token.content} language={token.info} acts={acts} />;
    default:
      return token.content;
  }
}

function Code({
  text,
  language,
  acts,
}: {
  readonly text: string;
  readonly language: string;
  readonly acts: MarkdownActs;
}): VNode {
  return (
    <div class="code">
      <p class="code-head">
        <span class="grow">{line(language.trim().split(/\s/)[0] ?? "", 40)}</span>
        <button type="button" class="button plain small" onClick={() => acts.copy(text)}>
          Copy
        </button>
      </p>
      <pre tabIndex={0}>
        <code>{text.replace(/\n$/, "")}</code>
      </pre>
    </div>
  );
}

interface LinkProps {
  readonly address: string;
  readonly acts: MarkdownActs;
  readonly children: ComponentChildren;
}

function Link({ address, acts, children }: LinkProps): ComponentChildren {
  const whole = addressOf(address);
  if (whole === undefined) return children;
  return (
    <>
      {children} {/* A button would not break within a line. */}
      <span
        class="address"
        role="link"
        tabIndex={0}
        onClick={() => acts.openLink(whole)}
        onKeyDown={(event) => {
          if (event.key === "Enter") acts.openLink(whole);
        }}
      >
        {whole}
      </span>
    </>
  );
}
