/**
 * Classes of secrets, by the names that secret scanners use, each with generators of our own: `{alphabet:length}` draws
 * characters. The first word is what a setting is called that holds one.
 */
const classes: Readonly<Record<string, readonly [holder: string, ...forms: string[]]>> = {
  "1password": ["onepassword", "A3-{upper:6}-{upper:11}-{upper:5}-{upper:5}-{upper:5}"],
  "1password service account": ["op_service", "ops_eyJ{base64:260}"],
  adafruit: ["adafruit", "{id:32}"],
  adobe: ["adobe", "{hex:32}", "p8e-{lower:32}"],
  age: ["age", "AGE-SECRET-KEY-1{bech:58}"],
  airtable: ["airtable", "{lower:17}", "pat{alnum:14}.{hex:64}"],
  algolia: ["algolia", "{lower:32}"],
  alibaba: ["alibaba", "LTAI{alnum:20}", "{lower:30}"],
  anthropic: ["anthropic", "sk-ant-api03-{id:93}AA", "sk-ant-admin01-{id:93}AA"],
  artifactory: ["artifactory", "AKCp{alnum:69}", "cmVmd{alnum:59}"],
  asana: ["asana", "{lower:32}"],
  atlassian: ["atlassian", "{alnum:24}", "ATATT3{id:186}"],
  authress: ["authress", "sc_{lower:10}.acc_{lower:4}.{lower:12}.{alnum:40}"],
  "aws access key": ["aws", "AKIA{upper:16}", "ASIA{upper:16}", "ABIA{upper:16}", "ACCA{upper:16}"],
  "aws secret key": ["aws_secret_access", "{base64:40}"],
  "aws bedrock": ["bedrock", "ABSK{base64:128}"],
  azure: ["azure_client_secret", "{alnum:3}8Q~{alnum:34}"],
  beamer: ["beamer", "b_{id:44}"],
  bitbucket: ["bitbucket", "{alnum:32}"],
  bittrex: ["bittrex", "{lower:32}"],
  clickhouse: ["clickhouse", "4b1d{alnum:38}"],
  clojars: ["clojars", "CLOJARS_{lower:60}"],
  cloudflare: ["cloudflare", "{id:40}", "{hex:37}", "v1.0-{hex:24}-{hex:146}"],
  codecov: ["codecov", "{lower:32}"],
  cohere: ["cohere", "{alnum:40}"],
  coinbase: ["coinbase", "{id:64}"],
  confluent: ["confluent", "{alnum:16}", "{alnum:64}"],
  contentful: ["contentful", "{id:43}"],
  databricks: ["databricks", "dapi{hex:32}"],
  datadog: ["datadog", "{lower:40}"],
  "defined networking": ["dnkey", "dnkey-{id:26}-{id:52}"],
  digitalocean: ["digitalocean", "dop_v1_{hex:64}", "doo_v1_{hex:64}", "dor_v1_{hex:64}"],
  discord: ["discord", "{hex:64}", "{alnum:32}"],
  doppler: ["doppler", "dp.pt.{alnum:43}"],
  droneci: ["droneci", "{lower:32}"],
  dropbox: ["dropbox", "{lower:15}", "sl.{id:135}"],
  duffel: ["duffel", "duffel_test_{id:43}", "duffel_live_{id:43}"],
  dynatrace: ["dynatrace", "dt0c01.{upper:24}.{upper:64}"],
  easypost: ["easypost", "EZAK{alnum:54}", "EZTK{alnum:54}"],
  etsy: ["etsy", "{lower:24}"],
  facebook: ["facebook", "{hex:32}", "EAAM{alnum:120}"],
  fastly: ["fastly", "{id:32}"],
  finicity: ["finicity", "{lower:20}", "{hex:32}"],
  finnhub: ["finnhub", "{lower:20}"],
  flickr: ["flickr", "{lower:32}"],
  flutterwave: ["flutterwave", "FLWPUBK_TEST-{hex:32}-X", "FLWSECK_TEST-{hex:12}"],
  "fly.io": ["fly", "fo1_{id:43}", "fm2_{base64:140}"],
  "frame.io": ["frameio", "fio-u-{id:64}"],
  freemius: ["freemius_secret", "sk_{alnum:29}"],
  freshbooks: ["freshbooks", "{lower:64}"],
  gcp: ["gcp", "AIza{id:35}"],
  "google oauth": ["google", "ya29.{id:100}", "GOCSPX-{id:28}"],
  github: [
    "github",
    "ghp_{alnum:36}",
    "gho_{alnum:36}",
    "ghu_{alnum:36}",
    "ghs_{alnum:36}",
    "ghr_{alnum:36}",
  ],
  "github fine-grained": ["github", "github_pat_{word:82}"],
  gitlab: ["gitlab", "glpat-{id:20}", "gldt-{id:20}", "glptt-{hex:40}", "glrt-{id:20}", "glft-{id:20}"],
  gitter: ["gitter", "{id:40}"],
  gocardless: ["gocardless", "live_{id:40}"],
  grafana: ["grafana", "glsa_{alnum:32}_{hex:8}", "glc_{base64:60}", "eyJrIjoi{alnum:80}"],
  harness: ["harness", "pat.{alnum:22}.{hex:24}.{alnum:20}"],
  hashicorp: ["terraform", "{alnum:14}.atlasv1.{id:65}"],
  vault: ["vault", "hvs.{id:95}", "hvb.{id:140}"],
  heroku: ["heroku", "{uuid}", "HRKU-AA{id:58}"],
  hubspot: ["hubspot", "{uuid}"],
  "hugging face": ["huggingface", "hf_{alnum:34}", "api_org_{alnum:34}"],
  infracost: ["infracost", "ico-{alnum:32}"],
  intercom: ["intercom", "{base64:60}"],
  intra42: ["intra42", "s-s4t2ud-{hex:64}"],
  jfrog: ["jfrog", "{alnum:73}"],
  jwt: ["session", "eyJ{alnum:30}.eyJ{alnum:80}.{id:43}"],
  kraken: ["kraken", "{base64:88}"],
  kucoin: ["kucoin", "{hex:24}", "{uuid}"],
  langsmith: ["langsmith", "lsv2_pt_{hex:32}_{hex:10}"],
  launchdarkly: ["launchdarkly", "{id:40}"],
  linear: ["linear", "lin_api_{alnum:40}"],
  linkedin: ["linkedin", "{lower:16}", "{lower:14}"],
  lob: ["lob_api", "live_{hex:35}", "test_{hex:35}"],
  looker: ["looker", "{lower:24}"],
  mailchimp: ["mailchimp", "{hex:32}-us20"],
  mailgun: ["mailgun", "key-{hex:32}", "pubkey-{hex:32}"],
  mapbox: ["mapbox", "pk.eyJ{alnum:60}.{alnum:22}"],
  mattermost: ["mattermost", "{lower:26}"],
  maxmind: ["maxmind_license", "{alnum:6}_{alnum:29}_mmk"],
  meraki: ["meraki_api", "{hex:40}"],
  messagebird: ["messagebird", "{lower:25}"],
  netlify: ["netlify", "{id:43}"],
  "new relic": ["newrelic", "NRAK-{upper:27}", "NRJS-{hex:19}", "NRII-{id:32}"],
  notion: ["notion", "ntn_{digit:11}{alnum:35}"],
  npm: ["npm", "npm_{alnum:36}"],
  nuget: ["nuget_password", "{alnum:24}"],
  nytimes: ["nytimes", "{alnum:32}"],
  octopus: ["octopus", "API-{upper:26}"],
  okta: ["okta", "00{id:40}"],
  openai: [
    "openai",
    "sk-proj-{id:74}T3BlbkFJ{id:74}",
    "sk-svcacct-{id:74}T3BlbkFJ{id:74}",
    "sk-{alnum:20}T3BlbkFJ{alnum:20}",
  ],
  openshift: ["openshift", "sha256~{id:43}"],
  perplexity: ["perplexity", "pplx-{alnum:48}"],
  plaid: ["plaid", "{alnum:24}", "access-sandbox-{uuid}"],
  planetscale: ["planetscale", "pscale_tkn_{id:43}", "pscale_pw_{id:43}"],
  postman: ["postman", "PMAK-{hex:24}-{hex:34}"],
  prefect: ["prefect", "pnu_{alnum:36}"],
  pulumi: ["pulumi", "pul-{hex:40}"],
  pypi: ["pypi", "pypi-AgEIcHlwaS5vcmc{id:100}"],
  rapidapi: ["rapidapi", "{id:50}"],
  readme: ["readme", "rdme_{lower:70}"],
  rubygems: ["rubygems", "rubygems_{hex:48}"],
  scalingo: ["scalingo", "tk-us-{id:48}"],
  sendbird: ["sendbird", "{hex:40}"],
  sendgrid: ["sendgrid", "SG.{id:22}.{id:43}"],
  sendinblue: ["sendinblue", "xkeysib-{hex:64}-{alnum:16}"],
  sentry: ["sentry", "{hex:64}", "sntryu_{hex:64}", "sntrys_eyJ{base64:120}"],
  settlemint: ["settlemint", "sm_aat_{alnum:16}", "sm_pat_{alnum:16}"],
  shippo: ["shippo", "shippo_live_{hex:40}", "shippo_test_{hex:40}"],
  shopify: ["shopify", "shpat_{hex:32}", "shpss_{hex:32}", "shpca_{hex:32}"],
  sidekiq: ["bundle_enterprise_key", "{hex:8}:{hex:8}"],
  slack: [
    "slack",
    "xoxb-{digit:12}-{digit:12}-{alnum:24}",
    "xoxp-{digit:11}-{digit:12}-{digit:12}-{hex:32}",
    "xapp-1-A{upper:10}-{digit:13}-{hex:64}",
    "xoxe.xoxb-1-{alnum:160}",
  ],
  "slack webhook": ["hook", "https://hooks.slack.com/services/T{upper:10}/B{upper:10}/{alnum:24}"],
  snyk: ["snyk", "{uuid}"],
  sonar: ["sonar", "squ_{hex:40}", "sqp_{hex:40}"],
  sourcegraph: ["sourcegraph", "sgp_{hex:16}_{hex:40}"],
  square: ["square", "sq0atp-{id:22}", "EAAAE{id:59}"],
  squarespace: ["squarespace", "{uuid}"],
  stripe: ["stripe", "sk_live_{alnum:24}", "rk_test_{alnum:24}", "sk_test_{alnum:99}"],
  "sumo logic": ["sumo", "su{alnum:12}", "{alnum:64}"],
  teams: [
    "webhook",
    "https://acme.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{hex:32}/{uuid}",
  ],
  telegram: ["telegram", "{digit:10}:A{id:34}"],
  travis: ["travis", "{alnum:22}"],
  trello: ["trello_token", "{alnum:32}"],
  twilio: ["twilio", "SK{hex:32}"],
  twitch: ["twitch", "{lower:30}"],
  twitter: ["twitter", "{alnum:45}", "{alnum:50}", "AAAAAAAAAAAAAAAAAAAAAA{alnum:80}"],
  typeform: ["typeform", "tfp_{dotted:59}"],
  yandex: ["yandex", "t1.A{alnum:30}.{id:86}", "AQVN{id:36}"],
  zendesk: ["zendesk", "{lower:40}"],
  "generic password": ["password", "{alnum:12}", "{alnum:5}!{alnum:5}#9"],
  "generic key": ["api_key", "{alnum:32}", "{hex:40}", "{id:24}"],
};

/** Texts of their own, in which the secret stands between « and ». */
const texts: Readonly<Record<string, readonly string[]>> = {
  "private key": [
    "«-----BEGIN RSA PRIVATE KEY-----\n{base64:64}\n{base64:64}\n{base64:30}\n-----END RSA PRIVATE KEY-----»\n",
    "key: |\n  «-----BEGIN PRIVATE KEY-----\n  {base64:64}\n  {base64:40}\n  -----END PRIVATE KEY-----»\n",
    'KEY="«-----BEGIN EC PRIVATE KEY-----\\n{base64:64}\\n{base64:60}\\n-----END EC PRIVATE KEY-----»\\n"\n',
    "«-----BEGIN OPENSSH PRIVATE KEY-----\n{base64:70}\n{base64:70}\n-----END OPENSSH PRIVATE KEY-----»",
    "«-----BEGIN RSA PRIVATE KEY-----\n{base64:64}\n{base64:64}»",
    "«-----BEGIN ENCRYPTED PRIVATE KEY-----\n{base64:64}\n{base64:20}==\n-----END ENCRYPTED PRIVATE KEY-----»",
    "«PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 2\n{base64:64}\n{base64:60}\nPrivate-MAC: {hex:40}»\n",
  ],
  "private key as lines of a log": [
    '["«-----BEGIN RSA PRIVATE KEY-----","{base64:64}","{base64:64}","-----END RSA PRIVATE KEY-----»"]',
    "[ '«-----BEGIN PRIVATE KEY-----',\n  '{base64:64}',\n  '{base64:64}',\n  '-----END PRIVATE KEY-----»' ]",
    "INFO «-----BEGIN RSA PRIVATE KEY-----\nINFO {base64:64}\nINFO {base64:64}\nINFO -----END RSA PRIVATE KEY-----»\n",
    '{"lines": [\n  "«-----BEGIN EC PRIVATE KEY-----\\n",\n  "{base64:64}\\n",\n  "-----END EC PRIVATE KEY-----»\\n"\n]}',
  ],
  "pgp block": [
    "«-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{base64:64}\n{base64:64}\n={base64:4}\n-----END PGP PRIVATE KEY BLOCK-----»\n",
    "«-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{base64:64}\n={base64:4}\n-----END PGP PRIVATE KEY BLOCK-----»",
  ],
  bearer: [
    "Authorization: Bearer «{id:40}»\r\n",
    "AUTHORIZATION: BEARER «{base64:48}»\n",
    "curl -H 'authorization: bearer «{hex:40}»' https://api.example/",
    '"headers": {"Authorization": "Bearer «{id:64}»"}',
    "Authorization: token «{hex:40}»\n",
    "fetch(url, { headers: { Authorization: `Bearer «{alnum:32}»` } })",
  ],
  basic: [
    "Authorization: Basic «{base64:32}»\r\n",
    "authorization: basic «{base64:24}==»\n",
    'curl -H "Authorization: Basic «{base64:60}»" https://api.example/',
    '{"Authorization":"Basic «{base64:40}=»"}',
  ],
  "password in an address": [
    "DATABASE_URL=postgres://app:«{alnum:14}»@db.internal:5432/app\n",
    "redis://:«{alnum:20}»@cache:6379/0",
    "amqps://service:«{id:18}»@queue.example/vhost",
    "git clone https://me:«{alnum:40}»@git.example/me/it.git",
    "mongodb+srv://root:«{alnum:9}!{alnum:6}»@cluster.example/test",
  ],
  "password after its name": [
    "password: «{lower:7}7»\n",
    "Password = «{alnum:10}»\n",
    'spring.datasource.password="«{alnum:6}!{alnum:6}#»"\n',
    "PGPASSWORD=«{alnum:12}» psql -h db app\n",
    '{"user": "ada", "passwd": "«{alnum:9}»"}',
    "Das Passwort: «{lower:8}9»\n",
    "mysql --password=«{alnum:12}» app\n",
    '<add key="Password" value="«{alnum:12}»" />',
  ],
  "header of an api": [
    "X-Api-Key: «{alnum:32}»\r\n",
    "api-key: «{hex:32}»\n",
    "Cookie: session=«{hex:40}»; path=/\n",
    "PRIVATE-TOKEN: «{id:20}»\n",
  ],
  "token glued to a word": [
    "keyghp_«{alnum:36}»",
    "deploy-github_pat_«{word:60}»",
    "prefix_sk-ant-api03-«{id:95}»",
    "myxoxb-«{digit:12}-{digit:12}-{alnum:24}»",
    "tokenglpat-«{alnum:20}»",
    "urlhttps://hooks.slack.com/services/«T{upper:9}/B{upper:9}/{alnum:24}»",
    "x=npm_«{alnum:36}»,y",
  ],
  webhook: [
    "https://discord.com/api/webhooks/«{digit:18}/{id:68}»",
    "https://hooks.slack.com/workflows/«T{upper:9}/A{upper:9}/{digit:18}/{alnum:24}»",
    "https://api.telegram.org/bot«{digit:10}:{id:35}»/sendMessage",
  ],
};

/** What a secret stands in: settings, programs, commands, requests, logs. */
const settings: Readonly<Record<string, (holder: string, secret: string) => string>> = {
  environment: (holder, secret) => `export ${holder.toUpperCase()}_TOKEN=${secret}\n`,
  ini: (holder, secret) => `[main]\n${holder}_token = ${secret}\n`,
  json: (holder, secret) => JSON.stringify({ name: "app", [`${holder}_token`]: secret }, null, 2),
  yaml: (holder, secret) => `${holder}:\n  ${holder}_token: '${secret}'\n`,
  toml: (holder, secret) => `${holder}_key = "${secret}"\n`,
  xml: (holder, secret) => `<${holder}Token>${secret}</${holder}Token>\n`,
  program: (holder, secret) => `const ${holder}Token = "${secret}";\n`,
  typed: (holder, secret) => `private String ${holder}Key = "${secret}";\n`,
  go: (holder, secret) => `\t${holder}Token := \`${secret}\`\n`,
  log: (holder, secret) => `2026-11-24T03:00:00Z INFO ${holder}_token=${secret} accepted\n`,
};

const alphabets: Readonly<Record<string, string>> = {
  digit: "0123456789",
  hex: "0123456789abcdef",
  lower: "abcdefghijklmnopqrstuvwxyz0123456789",
  upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
  bech: "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
  alnum: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
};
for (const [name, more] of Object.entries({ word: "_", id: "_-", dotted: "_-.", base64: "+/" }))
  (alphabets as Record<string, string>)[name] = `${alphabets["alnum"]}${more}`;

export interface CorpusCase {
  readonly name: string;
  readonly setting: string;
  readonly secret: string;
  readonly text: string;
}

/** Returns every class in every setting; the same texts for the same numbers. */
export function corpus(random: () => number): readonly CorpusCase[] {
  const drawn = (alphabet: string, length: number): string => {
    const characters = alphabets[alphabet];
    if (characters === undefined) throw new Error(`There is no alphabet ${alphabet}.`);
    // Nearly all secrets of this length hold a digit.
    for (;;) {
      const text = Array.from({ length }, () => characters[Math.floor(random() * characters.length)]).join(
        "",
      );
      if (length < 12 || /\d.*\d/.test(text)) return text;
    }
  };
  const made = (form: string): string =>
    form
      .replaceAll("{uuid}", "{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}")
      .replaceAll(/\{(\w+):(\d+)\}/g, (_, alphabet: string, length: string) =>
        drawn(alphabet, Number(length)),
      );
  const own = Object.entries(texts).flatMap(([name, forms]) =>
    forms.map((form) => {
      const [before = "", secret = "", after = ""] = made(form).split(/[«»]/u);
      return { name, setting: "its own text", secret, text: before + secret + after };
    }),
  );
  const inSettings = Object.entries(classes).flatMap(([name, [holder, ...forms]]) =>
    forms.flatMap((form) =>
      Object.entries(settings).map(([setting, text]) => {
        const secret = made(form);
        // What is secret of a webhook comes after its host and kind.
        const hidden = secret.replace(/^https:\/\/[^/]+\/\w+\//, "");
        return { name, setting, secret: hidden, text: text(holder, secret) };
      }),
    ),
  );
  return [...inSettings, ...own];
}
