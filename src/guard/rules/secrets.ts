/**
 * The rules for secrets, one per line, below the page that documents the format. Columns, separated by two blanks or
 * more: id, kind, check, keywords, pattern, what it finds. An id never changes after a release.
 *
 * | kind | the pattern |
 * | --- | --- |
 * | token | the body of a token after one of the keywords, its prefixes |
 * | marked | a whole token that contains a keyword or, between slashes, a pattern |
 * | whole | a whole token that begins with a keyword |
 * | near | a value without a marker, at most 48 characters after a keyword |
 * | form | begins with a keyword; the group `secret` is the secret |
 * | place | as form, but only the context makes it a secret; ignores case |
 * | command | as place, with case |
 * | last | as form, for tokens that vendors' rules describe better |
 * | assigned | after a name that means a secret (`DB_PASSWORD`, `clientSecret`); ignores case |
 * | named | as place, for words of other languages |
 *
 * If several rules match, the first kind of this list names the hit: token, whole, marked, form; near; last; place, command; assigned, named.
 * `<hex>`, `<alnum>`, `<url64>`, `<std64>`, `<uuid>`, `<begin>`, `<pem>`, `<declared>`, `<operator>` and `<keywords>` are patterns. `-` is the
 * check for random text (secret-rules.ts).
 */
export const SECRETS = String.raw`
# Keys
https://cloud.google.com/iam/docs/keys-create-delete
google-service-account-key          form    pem         "private_key"  "private_key"\s{0,8}:\s{0,8}"(?<secret><begin>(?:RSA )?PRIVATE KEY<pem>)  Google service account key
https://www.rfc-editor.org/rfc/rfc8017
pem-rsa-key                         form    pem         -----begin  <begin>RSA PRIVATE KEY<pem>  RSA private key
https://www.rfc-editor.org/rfc/rfc5915
pem-ec-key                          form    pem         -----begin  <begin>EC PRIVATE KEY<pem>  EC private key
https://www.openssl.org/docs/man3.0/man1/openssl-dsa.html
pem-dsa-key                         form    pem         -----begin  <begin>DSA PRIVATE KEY<pem>  DSA private key
https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.key
pem-openssh-key                     form    pem         -----begin  <begin>OPENSSH PRIVATE KEY<pem>  OpenSSH private key
https://www.rfc-editor.org/rfc/rfc7468
pem-encrypted-key                   form    pem         -----begin  <begin>ENCRYPTED PRIVATE KEY<pem>  encrypted private key
https://www.rfc-editor.org/rfc/rfc9580
pgp-private-key                     form    pem         -----begin  <begin>PGP PRIVATE KEY BLOCK<pem>  PGP private key
https://www.rfc-editor.org/rfc/rfc7468
pem-private-key                     form    pem         -----begin  <begin>(?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY<pem>  private key
https://www.rfc-editor.org/rfc/rfc4716
ssh2-private-key                    form    pem         ---- begin ssh2  ---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----(?:[^-]|-(?!----)){40,16384}  SSH2 private key
https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html
putty-private-key                   form    any         putty-user-key-file  PuTTY-User-Key-File-\d: [\s\S]{20,12000}?Private-Lines: \d{1,3}\s{1,4}(?<secret>(?:[A-Za-z0-9+/=]{16,64}\s{1,4}){1,200})  PuTTY private key
https://age-encryption.org/v1
age-secret-key                      form    bech32      age-secret-key-  AGE-SECRET-KEY-(?:PQ-)?1(?<secret>[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{50,120})  age secret key

# Source hosts
https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github
github-pat                          token   -           ghp_  <alnum>{36,255}  GitHub personal access token
github-oauth-token                  token   -           gho_  <alnum>{36,255}  GitHub OAuth token
github-user-token                   token   -           ghu_  <alnum>{36,255}  GitHub app user token
github-server-token                 token   -           ghs_  <alnum>{36,255}  GitHub app installation token
github-refresh-token                token   -           ghr_  <alnum>{36,255}  GitHub refresh token
github-fine-grained-pat             token   -           github_pat_  \w{36,255}  GitHub fine-grained token
https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
github-legacy-token                 near    -           github_token,github_pat,github token,gh_token,github_client_secret,github client secret  <hex>{40}  GitHub token or client secret
https://docs.gitlab.com/security/tokens/
gitlab-pat                          token   -           glpat-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab personal, project or group access token
gitlab-deploy-token                 token   -           gldt-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab deploy token
gitlab-runner-token                 token   -           glrt-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab runner authentication token
gitlab-runner-registration-token    token   -           glrtr-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab runner registration token
gitlab-legacy-runner-token          token   -           GR1348941  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab runner registration token
gitlab-trigger-token                token   -           glptt-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab pipeline trigger token
gitlab-job-token                    token   -           glcbt-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab CI/CD job token
gitlab-oauth-secret                 token   -           gloas-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab OAuth application secret
gitlab-feed-token                   token   -           glft-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab feed token
gitlab-scim-token                   token   -           glsoat-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab SCIM token
gitlab-mail-token                   token   -           glimt-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab incoming mail token
gitlab-agent-token                  token   -           glagent-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab Kubernetes agent token
gitlab-workspace-token              token   -           glwt-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab workspace token
gitlab-feature-flag-token           token   -           glffct-  (?:t\d_)?[\w-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?  GitLab feature flags client token
https://support.atlassian.com/bitbucket-cloud/docs/app-passwords/
bitbucket-app-password              token   -           ATBB  <alnum>{24,60}  Bitbucket app password
https://support.atlassian.com/bitbucket-cloud/docs/access-tokens/
bitbucket-access-token              token   -           ATCTT3  [\w=-]{60,300}  Bitbucket access token
https://docs.gitea.com/development/api-usage
gitea-token                         near    -           gitea,codeberg,forgejo  <hex>{40}  Gitea or Forgejo token
https://sourcegraph.com/docs/cli/how-tos/creating-an-access-token
sourcegraph-token                   token   -           sgp_,sgph_  (?:(?:<hex>{16}|local)_)?<hex>{40}  Sourcegraph access token
sourcegraph-legacy-token            near     -           sourcegraph  <hex>{40}  Sourcegraph access token
sourcegraph-cody-token              token    -           slk_  <hex>{64}  Sourcegraph Cody gateway token

# Clouds
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
aws-access-key-id                   token   -           AKIA,ASIA,ABIA,ACCA  [A-Z0-9]{16}  AWS access key id
https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html
aws-secret-access-key               near    mixed       aws,secret_access_key,secretaccesskey,secret access key,secret-access-key  <std64>{40}  AWS secret access key
https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_use-resources.html
aws-session-token                   near    mixed       session_token,sessiontoken,security_token,security-token,securitytoken,session token  <std64>{100,2048}={0,2}  AWS session token
https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html
aws-bedrock-key                     token   -           ABSK  <std64>{80,300}={0,2}  Amazon Bedrock API key
aws-bedrock-short-term-key          token   -           bedrock-api-key-  <std64>{40,2048}={0,2}  Amazon Bedrock short-term API key
https://docs.developer.amazonservices.com/en_US/dev_guide/DG_Registering.html
aws-mws-token                       token   -           amzn.mws.  <uuid>  Amazon MWS auth token
https://cloud.google.com/docs/authentication/api-keys
google-api-key                      token   -           AIza  <url64>{35}  Google API key
https://developers.google.com/identity/protocols/oauth2
google-oauth-client-secret          token   -           GOCSPX-  <url64>{24,40}  Google OAuth client secret
google-oauth-access-token           token   -           ya29.  [\w.-]{20,2048}  Google OAuth access token
google-oauth-refresh-token          token   -           1//0  <url64>{40,512}  Google OAuth refresh token
https://docs.digitalocean.com/reference/api/create-personal-access-token/
digitalocean-pat                    token   -           dop_v1_  <hex>{64}  DigitalOcean personal access token
digitalocean-oauth-token            token   -           doo_v1_  <hex>{64}  DigitalOcean OAuth token
digitalocean-refresh-token          token   -           dor_v1_  <hex>{64}  DigitalOcean refresh token
https://developers.cloudflare.com/fundamentals/api/get-started/token-formats/
cloudflare-user-token               token   -           cfut_  <url64>{40,64}  Cloudflare user API token
cloudflare-account-token            token   -           cfat_  <url64>{40,64}  Cloudflare account API token
cloudflare-global-key               token   -           cfk_  <url64>{37,64}  Cloudflare global API key
https://developers.cloudflare.com/fundamentals/api/get-started/create-token/
cloudflare-legacy-token             near    -           cloudflare,cf_api,x-auth-key  (?:<url64>{40}|<hex>{37})  Cloudflare API token or key
https://developers.cloudflare.com/turnstile/get-started/
cloudflare-turnstile-secret         token    -           0x4AAAAAA  <url64>{26,32}  Cloudflare Turnstile secret
https://developers.cloudflare.com/fundamentals/api/get-started/ca-keys/
cloudflare-origin-ca-key            token   -           v1.0-  <hex>{24}-<hex>{146}  Cloudflare origin CA key
https://devcenter.heroku.com/articles/authentication
heroku-key                          token   -           HRKU-  <url64>{36,80}  Heroku API key
heroku-legacy-key                   near    -           heroku  <uuid>  Heroku API key
https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair
alibaba-access-key-id               token   -           LTAI  <alnum>{12,26}  Alibaba Cloud AccessKey id
alibaba-access-key-secret           near    -           alibaba,aliyun,accesskeysecret,access_key_secret,access-key-secret  <alnum>{30}  Alibaba Cloud AccessKey secret
https://www.tencentcloud.com/document/product/598/34228
tencent-secret-id                   token   -           AKID  <alnum>{32}  Tencent Cloud SecretId
https://cloud.ibm.com/docs/account?topic=account-userapikey
ibm-cloud-key                       near    -           ibm,bluemix,watson,iam_api_key,iam_apikey  <url64>{44}  IBM Cloud API key
https://docs.oracle.com/en-us/iaas/Content/Registry/Tasks/registrygettingauthtoken.htm
oracle-auth-token                   near    -           oci_auth_token,oci auth token,oci_token,oracle auth token,oracle cloud auth token,ocir  [\w<>()[\]{}.#;:+~^-]{20}  Oracle Cloud auth token
https://techdocs.akamai.com/linode-api/reference/get-started
linode-token                        near    -           linode  <hex>{64}  Linode personal access token
https://www.scaleway.com/en/docs/iam/how-to/create-api-keys/
scaleway-secret-key                 near    -           scw_secret,scaleway,scw_  <uuid>  Scaleway secret key
https://fly.io/docs/security/tokens/
flyio-token                         token   -           fm2_,fm1r_,fm1a_,fo1_  [A-Za-z0-9+/_-]{40,4096}={0,3}  Fly.io access token
https://vercel.com/docs/sign-in-with-vercel/tokens
vercel-token                        token   -           vcp_,vci_,vca_,vcr_,vck_  <alnum>{24,80}  Vercel token
https://vercel.com/docs/rest-api
vercel-legacy-token                 near    mixed       vercel,now_token  <alnum>{24}  Vercel token
https://docs.netlify.com/api/get-started/
netlify-token                       token   -           nfp_,nfc_,nfo_,nfb_,nfu_  <alnum>{32,48}  Netlify access token
https://render.com/docs/api
render-key                          token   -           rnd_  <alnum>{24,64}  Render API key
https://docs.railway.com/guides/public-api
railway-token                       near    -           railway  <uuid>  Railway token
https://docs.hetzner.cloud/reference/cloud#authentication
hetzner-token                       near    -           hetzner,hcloud  <alnum>{64}  Hetzner Cloud token
https://www.vultr.com/api/#section/Authentication
vultr-key                           near    -           vultr  [A-Z0-9]{36}  Vultr API key
https://yandex.cloud/en/docs/iam/concepts/authorization/api-key
yandex-cloud-key                    token   -           AQVN  <url64>{35,40}  Yandex Cloud API key
https://yandex.cloud/en/docs/iam/concepts/authorization/iam-token
yandex-iam-token                    whole   -           t1.  t1\.[A-Z0-9a-z_-]{1,400}={0,2}\.[\w-]{60,100}={0,2}  Yandex Cloud IAM token

# Azure
https://learn.microsoft.com/en-us/azure/storage/common/storage-configure-connection-string
azure-storage-key                   token   -           AccountKey=,accountkey=  <std64>{86}==  Azure storage account key
https://learn.microsoft.com/en-us/azure/cosmos-db/secure-access-to-data
azure-cosmos-key                    near     -           cosmos,documents.azure.com  <std64>{86}==  Azure Cosmos DB key
azure-batch-key                     near     -           batch.azure.com,azure_storage,accountkey,azure batch  <std64>{86}==  Azure account key
https://learn.microsoft.com/en-us/azure/service-bus-messaging/service-bus-sas
azure-shared-access-key             token   -           SharedAccessKey=,sharedaccesskey=  <std64>{43,86}={0,2}  Azure shared access key
https://learn.microsoft.com/en-us/azure/storage/common/storage-sas-overview
azure-sas                           form    -           sig=  (?<=[?&;"'\s])sig=(?<secret>(?:[A-Za-z0-9+/_-]|%[0-9A-Fa-f]{2}){40,100}={0,2})  Azure shared access signature
https://learn.microsoft.com/en-us/entra/identity-platform/how-to-add-credentials
azure-client-secret                 marked  -           7q~,8q~,9q~  [\w~.-]{3}[0-9]Q~[\w~.-]{31,34}  Microsoft Entra client secret
https://learn.microsoft.com/en-us/azure/devops/organizations/accounts/use-personal-access-tokens-to-authenticate
azure-devops-pat                    marked  -           azdo  <alnum>{76}AZDO<alnum>{4}  Azure DevOps personal access token
azure-devops-legacy-pat             near    -           azure devops,azure-devops,azure_devops,azuredevops,dev.azure.com,visualstudio,azdo,ado_,vsts  [a-z0-9]{52}  Azure DevOps personal access token
https://learn.microsoft.com/en-us/purview/sit-defn-azure-databricks-personal-access-token
azure-resource-key                  marked  -           jqqj99  <alnum>{52}JQQJ99<alnum>{26}  Azure resource key
https://learn.microsoft.com/en-us/azure/search/search-security-api-keys
azure-search-key                    marked  -           azse  <alnum>{42}AzSe[A-D]<alnum>{5}  Azure AI Search key
https://learn.microsoft.com/en-us/azure/azure-functions/function-keys-how-to
azure-function-key                  marked  -           azfu  [\w-]{44}AzFu[\w-]{4,8}={0,2}  Azure Functions key
https://learn.microsoft.com/en-us/azure/container-registry/container-registry-authentication
azure-container-registry-key        marked  -           +acr  <std64>{42}\+ACR[A-D]<alnum>{4,6}  Azure container registry password
https://learn.microsoft.com/en-us/azure/api-management/api-management-subscriptions
azure-subscription-key              near    -           ocp-apim-subscription-key,subscription-key,subscription_key,azure_openai,cognitive  <hex>{32}  Azure subscription key

# Package registries
https://docs.npmjs.com/about-access-tokens
npm-token                           token   -           npm_  <alnum>{36,64}  npm access token
https://docs.pypi.org/api/secrets/
pypi-token                          token   -           pypi-AgEIcHlwaS5vcmc,pypi-AgENdGVzdC5weXBpLm9yZw  <url64>{50,1000}  PyPI API token
https://guides.rubygems.org/api-key-scopes/
rubygems-key                        token   -           rubygems_  <hex>{48}  RubyGems API key
https://doc.rust-lang.org/cargo/reference/publishing.html
crates-token                        token   -           cio  <alnum>{32}  crates.io token
https://learn.microsoft.com/en-us/nuget/nuget-org/scoped-api-keys
nuget-key                           token   -           oy2  [a-z0-9]{43}  NuGet API key
https://docs.docker.com/security/access-tokens/
docker-pat                          token   -           dckr_pat_  <url64>{24,64}  Docker personal access token
docker-oat                          token   -           dckr_oat_  <url64>{24,64}  Docker organization access token
https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens
jfrog-key                           token   -           AKCp  <alnum>{64,80}  JFrog API key
jfrog-reference-token               token   -           cmVmdGtu  <alnum>{56}  JFrog reference token
jfrog-legacy-key                    near     -           jfrog,artifactory,bintray,xray  (?:<alnum>{73}|<alnum>{64})  JFrog API key or identity token
https://github.com/clojars/clojars-web/wiki/Deploy-Tokens
clojars-token                       token   -           CLOJARS_  [0-9a-z]{60}  Clojars deploy token
https://packagist.com/docs/api-authentication
packagist-token                     token   -           packagist_uut_,packagist_out_,packagist_ack_,packagist_acs_  <hex>{40,128}  Packagist token
https://hex.pm/docs/publish
hex-key                             near    -           hex_api_key,hex.pm,hexpm  <hex>{32}  Hex API key
https://docs.deno.com/deploy/manual/deployctl/
deno-deploy-token                   token   -           ddp_,ddo_  <alnum>{36,48}  Deno Deploy token
https://www.anaconda.com/docs/tools/anaconda-org/user-guide/tokens
anaconda-token                      near    -           anaconda  [a-z]{2}-<hex>{8}-<hex>{4}-<hex>{4}-<hex>{4}-<hex>{12}  Anaconda token
https://help.cloudsmith.io/docs/api-key
cloudsmith-key                      near    -           cloudsmith  <hex>{40}  Cloudsmith API key

# Chat
https://docs.slack.dev/authentication/tokens/
slack-rotating-token                token   after-dash  xoxe.xoxb-,xoxe.xoxp-,xoxe-  (?:\d{1,2}-)?(?:[A-Z0-9]{8,14}-){0,4}[A-Za-z0-9]{16,200}  Slack rotating token
slack-bot-token                     token   after-dash  xoxb-  (?:\d{1,2}-)?(?:[A-Z0-9]{8,14}-){0,4}[A-Za-z0-9]{16,200}  Slack bot token
slack-user-token                    token   after-dash  xoxp-  (?:\d{1,2}-)?(?:[A-Z0-9]{8,14}-){0,4}[A-Za-z0-9]{16,200}  Slack user token
slack-legacy-token                  token   after-dash  xoxa-,xoxr-,xoxs-,xoxo-,xoxc-,xoxd-  (?:\d{1,2}-)?(?:[A-Z0-9]{8,14}-){0,4}[A-Za-z0-9]{16,200}  Slack legacy token
slack-app-token                     token   after-dash  xapp-  (?:\d{1,2}-)?(?:[A-Z0-9]{8,14}-){0,4}[A-Za-z0-9]{16,200}  Slack app-level token
https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
slack-webhook                       form    -           hooks.slack.com  hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/(?<secret>[A-Za-z0-9/]{30,120})  Slack webhook
https://discord.com/developers/docs/reference#authentication
discord-bot-token                   marked  discord     /\.[\w-]{6}\.[\w-]{27}/  [MNO][A-Za-z0-9_-]{22,29}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}  Discord bot token
https://discord.com/developers/docs/resources/webhook
discord-webhook                     form    -           discord.com/api/,discordapp.com/api/  discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{15,22}\/(?<secret>[\w-]{60,100})  Discord webhook
https://discord.com/developers/docs/topics/oauth2
discord-client-secret               near    -           discord  (?:<hex>{64}|<url64>{32})  Discord client secret
https://core.telegram.org/bots/api#authorizing-your-bot
telegram-bot-token                  marked  after-colon  :aa  \d{8,12}:AA[\w-]{32,34}  Telegram bot token
https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook
teams-webhook                       form    -           webhook.office.com,outlook.office.com,outlook.office365.com  (?:webhook|outlook)\.office(?:365)?\.com\/webhook(?:b2)?\/(?<secret>[0-9a-f-]{36}@[0-9a-f-]{36}\/IncomingWebhook\/[0-9A-Za-z]{32}\/[0-9a-f-]{36}(?:\/[\w-]{1,80})?)  Microsoft Teams webhook
https://developers.google.com/workspace/chat/quickstart/webhooks
google-chat-webhook                 form    -           chat.googleapis.com  chat\.googleapis\.com\/v1\/spaces\/[\w-]{6,40}\/messages\?key=[\w-]{39}&token=(?<secret>[\w%-]{20,100})  Google Chat webhook
https://help.zapier.com/hc/en-us/articles/8496288690317-Trigger-Zaps-from-webhooks
zapier-webhook                      form    -           hooks.zapier.com  hooks\.zapier\.com\/hooks\/catch\/(?<secret>\d{4,12}\/[a-z0-9]{6,16})  Zapier webhook
https://developers.mattermost.com/integrate/reference/personal-access-token/
mattermost-token                    near    -           mattermost,mm_token  [a-z0-9]{26}  Mattermost token
https://developer.rocket.chat/apidocs/authentication
rocketchat-token                    near    -           rocket.chat,rocketchat,rocket_chat,rocket chat  <url64>{43}  Rocket.Chat token
https://zulip.com/api/api-keys
zulip-key                           near    -           zulip  <alnum>{32}  Zulip API key
https://dev.twitch.tv/docs/authentication/
twitch-token                        near    -           twitch,oauth:  [a-z0-9]{30}  Twitch token
https://spec.matrix.org/latest/client-server-api/#client-authentication
matrix-token                        whole   -           syt_  syt_[A-Za-z0-9+/=_-]{2,200}_[A-Za-z]{20}_[A-Za-z0-9]{6}  Matrix access token
https://developer.webex.com/docs/bots
webex-token                         near    -           webex  <alnum>{64}(?:_[A-Z0-9]{4}_<uuid>)?  Webex token
https://developers.zoom.us/docs/internal-apps/create/
zoom-secret                         near    -           zoom  (?:<alnum>{32}|<hex>{64})  Zoom client secret

# Payment
https://paystack.com/docs/api/authentication/
paystack-key                        token   -           sk_live_,sk_test_  <hex>{40}  Paystack secret key
https://liveblocks.io/docs/api-reference/rest-api-endpoints
liveblocks-key                      token   -           sk_prod_,sk_dev_  <url64>{48,80}  Liveblocks secret key
https://docs.stripe.com/keys
stripe-secret-key                   token   -           sk_live_,sk_test_,sk_prod_  <alnum>{16,247}(?![_-])  Stripe secret key
stripe-restricted-key               token   -           rk_live_,rk_test_,rk_prod_  <alnum>{16,247}  Stripe restricted key
https://docs.stripe.com/webhooks/signature
stripe-webhook-secret               token   -           whsec_  [A-Za-z0-9+/_-]{24,128}={0,2}  Stripe webhook secret
https://developer.squareup.com/docs/build-basics/access-tokens
square-access-token                 token   -           sq0atp-,sq0ats-  <url64>{22,60}  Square access token
square-secret                       token   -           sq0csp-  <url64>{43,60}  Square OAuth secret
square-production-token             token   -           EAAA  <url64>{22,60}  Square access token
square-app-secret                   near     -           square  (?:sq0i[a-z]{2}-<url64>{22,43}|<url64>{44,86})  Square secret
https://developer.paypal.com/braintree/docs/guides/extend/oauth/access-tokens
braintree-access-token              whole   -           access_token$  access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}  PayPal Braintree access token
https://developer.paypal.com/api/rest/authentication/
paypal-secret                       near    -           paypal  [AE]<url64>{79}  PayPal client secret
paypal-oauth-secret                 near     name        paypal  [\w.-]{44,50}  PayPal OAuth secret
https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens
shopify-access-token                token   -           shpat_  [0-9a-fA-F]{32,64}  Shopify access token
shopify-custom-app-token            token   -           shpca_  [0-9a-fA-F]{32,64}  Shopify custom app token
shopify-private-app-token           token   -           shppa_  [0-9a-fA-F]{32,64}  Shopify private app password
shopify-shared-secret               token   -           shpss_,shpua_,shprt_  [0-9a-fA-F]{32,64}  Shopify shared secret
https://docs.adyen.com/development-resources/api-credentials/
adyen-key                           whole   -           aqe  AQE[a-z]h[A-Za-z0-9+/=*.~-]{60,300}  Adyen API key
https://razorpay.com/docs/payments/dashboard/account-settings/api-keys/
razorpay-key                        token   -           rzp_live_,rzp_test_  <alnum>{14,24}  Razorpay key
https://plaid.com/docs/api/tokens/
plaid-access-token                  token   -           access-production-,access-sandbox-,access-development-  <uuid>  Plaid access token
plaid-secret                        near    -           plaid  <hex>{30}  Plaid secret
https://developer.flutterwave.com/docs/authentication
flutterwave-key                     token   -           FLWSECK-,FLWSECK_TEST-,FLWSECK_LIVE-  [0-9a-zA-Z]{12,40}(?:-[0-9a-zA-Z]{1,20}){0,2}  Flutterwave secret key
https://docs.ramp.com/developer-api/v1/authorization
ramp-secret                         token    -           ramp_sec_  <alnum>{48}  Ramp client secret
https://docs.cdp.coinbase.com/get-started/docs/cdp-api-keys
coinbase-key-name                   marked  -           apikeys/  organizations/<uuid>/apiKeys/<uuid>  Coinbase API key name
coinbase-secret                     near    -           coinbase  (?:[A-Za-z0-9+/]{86}==|[A-Za-z0-9_-]{64}|[A-Za-z0-9]{32})  Coinbase API secret
https://docs.mollie.com/reference/authentication
mollie-key                          near    -           mollie  (?:live|test)_<alnum>{30,40}  Mollie API key
https://developer.gocardless.com/api-reference/
gocardless-token                    near    -           gocardless  (?:live|sandbox)_<url64>{40}  GoCardless access token
https://developer.paddle.com/api-reference/about/authentication
paddle-key                          token   -           pdl_live_apikey_,pdl_sdbx_apikey_  [a-z0-9]{26}_<alnum>{22}_<alnum>{3}  Paddle API key
https://www.mercadopago.com.ar/developers/en/docs/your-integrations/credentials
mercadopago-token                   token   -           APP_USR-  \d{12,20}-\d{6}-<hex>{32}-\d{6,12}  Mercado Pago access token
https://docs.polar.sh/integrate/oat
polar-token                         token   -           polar_oat_,polar_pat_,polar_whs_  <alnum>{32,64}  Polar access token
https://developers.binance.com/docs/binance-spot-api-docs/rest-api
binance-secret                      near    -           binance  <alnum>{64}  Binance API key

# AI
https://platform.openai.com/docs/api-reference/authentication
openai-project-key                  token   -           sk-proj-  <url64>{40,250}  OpenAI project API key
openai-service-key                  token   -           sk-svcacct-,sk-service-  <url64>{40,250}  OpenAI service account key
openai-admin-key                    token   -           sk-admin-  <url64>{40,250}  OpenAI admin key
https://docs.anthropic.com/en/api/overview
anthropic-api-key                   token   -           sk-ant-api  \d{2}-<url64>{40,150}  Anthropic API key
anthropic-admin-key                 token   -           sk-ant-admin  \d{2}-<url64>{40,150}  Anthropic admin key
anthropic-oauth-token               token   -           sk-ant-oat,sk-ant-ort,sk-ant-sid  \d{2}-<url64>{40,150}  Anthropic OAuth token
https://openrouter.ai/docs/api-reference/authentication
openrouter-key                      token   -           sk-or-v1-  <hex>{64}  OpenRouter API key
https://langfuse.com/docs/api-and-data-platform/features/public-api
langfuse-key                        token   -           sk-lf-  <uuid>  Langfuse secret key
https://api-docs.deepseek.com/
deepseek-key                        token   -           sk-  <hex>{32}  DeepSeek API key
https://platform.openai.com/docs/api-reference/authentication
openai-key                          token   -           sk-,sk-None-  (?:<alnum>{20}T3BlbkFJ<alnum>{20}|<alnum>{40,64}|[\w-]{20,120}T3BlbkFJ[\w-]{20,120})  OpenAI API key
https://docs.alchemy.com/reference/api-overview
alchemy-key                         token    -           alcht_  <alnum>{30}  Alchemy API key
https://huggingface.co/docs/hub/security-tokens
hugging-face-token                  token   -           hf_  <alnum>{30,48}  Hugging Face token
hugging-face-org-token              token   -           api_org_  <alnum>{30,48}  Hugging Face organization token
https://replicate.com/docs/reference/http#authentication
replicate-token                     token   -           r8_  <alnum>{36,48}  Replicate API token
https://docs.perplexity.ai/guides/api-key-management
perplexity-key                      token   -           pplx-  <alnum>{40,72}  Perplexity API key
https://github.com/groq/groq-typescript#usage
groq-key                            token   -           gsk_  <alnum>{40,72}  Groq API key
https://docs.x.ai/docs/tutorial
xai-key                             token   -           xai-  <alnum>{60,120}  xAI API key
https://docs.cohere.com/reference/about
cohere-key                          near    -           cohere,co_api_key  <alnum>{40}  Cohere API key
https://docs.mistral.ai/getting-started/quickstart/
mistral-key                         near    -           mistral  <alnum>{32}  Mistral API key
https://docs.fireworks.ai/tools-sdks/firectl/commands/create-api-key
fireworks-key                       token   -           fw_  <alnum>{20,64}  Fireworks API key
https://docs.together.ai/reference/authentication-1
together-key                        token   -           tgp_v1_  <url64>{40,64}  Together API key
together-legacy-key                 near    -           together,tgp_  <hex>{64}  Together API key
https://docs.smith.langchain.com/administration/how_to_guides/organization_management/create_account_api_key
langsmith-key                       token   -           lsv2_pt_,lsv2_sk_  <hex>{32}_<hex>{8,16}  LangSmith API key
https://docs.wandb.ai/support/find_api_key/
wandb-key                           token   -           wandb_v1_  \w{40,120}  Weights & Biases API key
wandb-legacy-key                    near    -           wandb,weights & biases,weights and biases  <hex>{40}  Weights & Biases API key
https://elevenlabs.io/docs/api-reference/authentication
elevenlabs-key                      token   -           sk_  <hex>{48}  ElevenLabs API key
https://docs.pinecone.io/guides/projects/manage-api-keys
pinecone-key                        token   -           pcsk_  <alnum>{4,8}_<alnum>{50,72}  Pinecone API key
https://docs.voyageai.com/docs/api-key-and-installation
voyage-key                          token   -           pa-  <url64>{40,48}  Voyage AI API key
https://docs.tavily.com/documentation/quickstart
tavily-key                          token   -           tvly-dev-,tvly-prod-,tvly-  <url64>{28,64}  Tavily API key
https://docs.nvidia.com/nim/large-language-models/latest/getting-started.html
nvidia-key                          token   -           nvapi-  <url64>{60,80}  NVIDIA API key
https://www.assemblyai.com/docs/api-reference/overview
assemblyai-key                      near    -           assemblyai  [a-z0-9]{32}  AssemblyAI API key
https://developers.deepgram.com/docs/create-additional-api-keys
deepgram-key                        near    -           deepgram  <hex>{40}  Deepgram API key
https://docs.anyscale.com/
anyscale-key                        token   -           esecret_  [a-z0-9]{24,48}  Anyscale API key
https://inference-docs.cerebras.ai/quickstart
cerebras-key                        token   -           csk-  [a-z0-9]{40,64}  Cerebras API key
https://docs.exa.ai/reference/quickstart
exa-key                             near    -           exa_api,exa api,exa.ai  <uuid>  Exa API key
https://docs.firecrawl.dev/api-reference/introduction
firecrawl-key                       token   -           fc-  <hex>{32}  Firecrawl API key
https://docs.apify.com/platform/integrations/api
apify-token                         token    -           apify_api_  <alnum>{34,40}  Apify API token
https://jina.ai/api-dashboard/
jina-key                            token   -           jina_  <url64>{56,72}  Jina API key
https://docs.cloud.llamaindex.ai/api_key
llamacloud-key                      token   -           llx-  <alnum>{40,64}  LlamaCloud API key
https://e2b.dev/docs/api-key
e2b-key                             token   -           e2b_  <hex>{40}  E2B API key
https://docs.cursor.com/en/account/teams/admin-api
cursor-key                          token   -           key_,crsr_  <hex>{64}  Cursor API key
https://docs.helicone.ai/helicone-headers/helicone-auth
helicone-key                        whole   -           sk-helicone-  sk-helicone-(?:[a-z]{2,4}-)?[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}  Helicone API key

# Mail and messages
https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys
sendgrid-key                        whole   -           sg.  SG\.[\w-]{16,32}\.[\w-]{32,64}  SendGrid API key
https://documentation.mailgun.com/docs/mailgun/api-reference/authentication/
mailgun-key                         token   -           key-,pubkey-  <hex>{32}  Mailgun API key
mailgun-sending-key                 near    -           mailgun  (?:<hex>{32}-<hex>{8}-<hex>{8}|<hex>{64})  Mailgun sending key
https://mailchimp.com/developer/marketing/guides/quick-start/
mailchimp-key                       marked  -           -us  <hex>{32}-us\d{1,2}  Mailchimp API key
https://mailchimp.com/developer/transactional/guides/quick-start/
mandrill-key                        near    -           mandrill,mailchimp  (?:md-)?<url64>{22}  Mailchimp Transactional API key
https://www.twilio.com/docs/iam/api-keys
twilio-api-key                      token   -           SK  <hex>{32}  Twilio API key
https://www.twilio.com/docs/iam/api/authtoken
twilio-auth-token                   near    -           twilio  <hex>{32}  Twilio auth token
https://www.twilio.com/docs/iam/api-keys
twilio-account-credentials          whole   -           ac  AC<hex>{32}:<hex>{32}  Twilio account with auth token
https://postmarkapp.com/developer/api/overview
postmark-token                      near    -           postmark  <uuid>  Postmark server token
https://developers.brevo.com/docs/getting-started
brevo-key                           token   -           xkeysib-  <hex>{64}-<alnum>{16}  Brevo API key
brevo-smtp-key                      token   -           xsmtpsib-  <hex>{64}-<alnum>{16}  Brevo SMTP key
https://resend.com/docs/api-reference/api-keys/create-api-key
resend-key                          token   -           re_  (?:<alnum>{8}_<alnum>{20,40}|<alnum>{28,40})  Resend API key
https://dev.mailjet.com/email/guides/
mailjet-key                         near    -           mailjet,mj_apikey,mj_api  <hex>{32}  Mailjet API key
https://developers.messagebird.com/api/
messagebird-key                     near    -           messagebird,message_bird  <alnum>{25}  MessageBird access key
https://developer.vonage.com/en/account/secret-management
vonage-secret                       near    -           vonage,nexmo  <alnum>{16}  Vonage API secret
https://developers.sparkpost.com/api/#header-authentication
sparkpost-key                       near    -           sparkpost  <hex>{40}  SparkPost API key
https://developers.klaviyo.com/en/docs/authenticate_
klaviyo-key                         token   -           pk_  <hex>{34}  Klaviyo private key
https://developers.mailersend.com/general.html#authentication
mailersend-token                    token   -           mlsn.  <hex>{64}  MailerSend token
https://documentation.onesignal.com/docs/en/keys-and-ids
onesignal-key                       token   -           os_v2_app_,os_v2_org_  [a-z0-9]{80,140}  OneSignal API key
https://www.plivo.com/docs/account/api/request/
plivo-token                         near    -           plivo  <url64>{40}  Plivo auth token
https://developers.ringcentral.com/guide/authentication
ringcentral-secret                  near     name        ringcentral  <url64>{22}  RingCentral client secret
https://docs.textmagic.com/
textmagic-key                       near    -           textmagic  <alnum>{30}  Textmagic API key

# Observability
https://docs.datadoghq.com/account_management/api-app-keys/
datadog-key                         near    -           datadog,dd_api,dd-api,dd_app,dd-app,ddapi  (?:<hex>{40}|<hex>{32}|[a-z0-9]{40})  Datadog API or application key
https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/
newrelic-user-key                   token   -           NRAK-  [A-Z0-9]{27,42}  New Relic user key
newrelic-browser-key                token   -           NRJS-  <hex>{19}  New Relic browser key
newrelic-insert-key                 token   -           NRII-,NRIQ-  <url64>{32}  New Relic insert key
newrelic-rest-key                   token   -           NRRA-  <hex>{42}  New Relic REST API key
newrelic-license-key                marked  -           nral  (?:eu01xx|[0-9a-f]{6})[0-9a-f]{26,30}(?:FFFF)?NRAL  New Relic license key
newrelic-legacy-key                 near     -           newrelic,new_relic,new-relic  (?:<hex>{36,47}|[A-Za-z0-9_.]{42}|[a-z0-9]{64}|[a-z0-9-]{32})  New Relic key
https://docs.sentry.io/account/auth-tokens/
sentry-org-token                    token   -           sntrys_  [A-Za-z0-9+/=_-]{60,500}  Sentry organization token
sentry-user-token                   token   -           sntryu_,sntrya_  <hex>{64}  Sentry user token
https://docs.sentry.io/concepts/key-terms/dsn-explainer/
sentry-dsn                          form    -           ://  :\/\/[0-9a-f]{32}:(?<secret>[0-9a-f]{32})(?=@[\w.-]{1,100}\/\d)  Sentry DSN with secret key
https://grafana.com/docs/grafana-cloud/security-and-account-management/authentication-and-permissions/
grafana-cloud-token                 token   -           glc_  [A-Za-z0-9+/_-]{32,400}={0,3}  Grafana Cloud access policy token
https://grafana.com/docs/grafana/latest/administration/service-accounts/
grafana-service-token               token   -           glsa_  <alnum>{32}_<hex>{8}  Grafana service account token
https://grafana.com/docs/grafana/latest/administration/service-accounts/migrate-api-keys/
grafana-key                         token   -           eyJrIjoi  <alnum>{60,400}={0,3}  Grafana API key
https://docs.honeycomb.io/configure/environments/manage-api-keys/
honeycomb-key                       whole   -           hc  hc[abmx][a-z][iklm]_[A-Za-z0-9]{52,64}  Honeycomb API key
https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients/access-tokens
dynatrace-token                     whole   -           dt0  dt0[a-z]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}  Dynatrace token
https://docs.splunk.com/Documentation/Splunk/latest/Data/UsetheHTTPEventCollector
splunk-token                        near    -           splunk,hec_token  <uuid>  Splunk HEC token
https://support.pagerduty.com/main/docs/api-access-keys
pagerduty-key                       near    -           pagerduty,pager_duty,pd_api  (?:[uy]\+[\w+-]{18}|[\w+-]{20}|[0-9a-f]{32})  PagerDuty API key
https://docs.rootly.com/api-reference/overview
rootly-key                          token    -           rootly_  <hex>{64}  Rootly API key
https://help.sumologic.com/docs/manage/security/access-keys/
sumologic-key                       near    -           sumologic,sumo_logic,sumo logic,sumo_  <alnum>{64}  Sumo Logic access key
https://docs.rollbar.com/docs/access-tokens
rollbar-token                       near    -           rollbar  <hex>{32}  Rollbar access token
https://docs.logz.io/docs/user-guide/admin/authentication-tokens/log-shipping-tokens/
logzio-token                        near    -           logz.io,logzio,logz_io  (?:[A-Za-z]{32}|[0-9a-f-]{36})  Logz.io token
https://documentation.solarwinds.com/en/success_center/loggly/content/admin/token-based-api-authentication.htm
loggly-token                        near    -           loggly  <uuid>  Loggly token
https://docs.bugsnag.com/api/data-access/
bugsnag-key                         near    -           bugsnag  <hex>{32}  BugSnag API key
https://axiom.co/docs/reference/tokens
axiom-token                         token   -           xaat-,xapt-  <uuid>  Axiom token
https://posthog.com/docs/api
posthog-key                         token   -           phx_,phs_  <alnum>{40,56}  PostHog personal API key
https://docs.statsig.com/access-management/api-keys/
statsig-key                         token   -           secret-,console-  <alnum>{40,56}  Statsig secret key
https://support.atlassian.com/opsgenie/docs/api-key-management/
opsgenie-key                        near    -           opsgenie  <uuid>  Opsgenie API key
https://amplitude.com/docs/apis/authentication
amplitude-key                       near    -           amplitude  <hex>{32}  Amplitude secret key
https://developer.mixpanel.com/reference/project-secret
mixpanel-secret                     near    -           mixpanel  <alnum>{32}  Mixpanel secret
https://uptimerobot.com/api/
uptimerobot-key                     whole   -           u0,u1,u2,u3,u4,u5,u6,u7,u8,u9  u\d{6,8}-[0-9a-f]{24}  UptimeRobot API key

# Data and secrets stores
https://developer.hashicorp.com/vault/docs/concepts/tokens
vault-service-token                 token   -           hvs.  <url64>{24,400}  Vault service token
vault-batch-token                   token   -           hvb.  <url64>{24,600}  Vault batch token
vault-recovery-token                token   -           hvr.  <url64>{24,400}  Vault recovery token
vault-legacy-token                  token   mixed       s.,b.,r.  <alnum>{24}  Vault token of a version before 1.10
https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens
terraform-token                     marked  -           .atlasv1.  <alnum>{14}\.atlasv1\.[\w-]{60,80}  HCP Terraform token
https://docs.doppler.com/reference/auth-token-formats
doppler-personal-token              token   -           dp.pt.  <alnum>{40,44}  Doppler personal token
doppler-service-token               token   -           dp.st.  (?:[a-z0-9_-]{2,35}\.)?<alnum>{40,44}  Doppler service token
doppler-token                       token   -           dp.ct.,dp.sa.,dp.scim.,dp.audit.,dp.said.  <alnum>{40,44}  Doppler token
https://www.pulumi.com/docs/administration/access-identity/access-tokens/
pulumi-token                        token   -           pul-  <hex>{40}  Pulumi access token
https://supabase.com/docs/reference/api/introduction
supabase-token                      token   -           sbp_,sbp_oauth_,sbp_v0_  <hex>{40}  Supabase access token
https://supabase.com/docs/guides/api/api-keys
supabase-secret-key                 token   -           sb_secret_  <url64>{22,64}  Supabase secret key
https://planetscale.com/docs/api/reference/service-tokens
planetscale-token                   token   -           pscale_tkn_  [\w.=-]{32,64}  PlanetScale service token
planetscale-password                token   -           pscale_pw_  [\w.=-]{32,64}  PlanetScale password
https://pganalyze.com/docs/api
pganalyze-key                       token    -           pgar_,pgaw_  [a-zA-Z0-9-]{28,40}  pganalyze API key
https://planetscale.com/docs/api/reference/service-tokens
planetscale-oauth-token             token   -           pscale_oauth_  [\w.=-]{32,64}  PlanetScale OAuth token
https://docs.databricks.com/aws/en/dev-tools/auth/pat
databricks-token                    token   -           dapi,dkea,dose  <hex>{32}(?:-\d)?  Databricks token
https://developer.1password.com/docs/service-accounts/
onepassword-service-token           token   -           ops_  eyJ[\w-]{100,2000}={0,3}  1Password service account token
https://support.1password.com/secret-key/
onepassword-secret-key              token   -           A3-  [A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}  1Password secret key
https://neon.com/docs/manage/api-keys
neon-key                            token   -           napi_  <alnum>{48,72}  Neon API key
https://www.mongodb.com/docs/atlas/api/service-accounts-overview/
mongodb-service-secret              token   -           mdb_sa_sk_  <url64>{36,48}  MongoDB Atlas service account secret
https://www.mongodb.com/docs/atlas/configure-api-access/
mongodb-atlas-key                   near    -           mongodb_atlas,mongodb atlas,atlas_private,atlas private  <uuid>  MongoDB Atlas private key
https://upstash.com/docs/redis/features/restapi
upstash-token                       near    -           upstash  (?:A[\w-]{49,80}={0,2}|[0-9a-f]{32}|[0-9a-f-]{36})  Upstash token
https://docs.turso.tech/cli/db/tokens/create
turso-token                         near    -           turso,libsql  eyJ[\w-]{10,200}\.eyJ[\w-]{10,800}\.[\w-]{40,200}  Turso token
https://docs.snowflake.com/en/user-guide/programmatic-access-tokens
snowflake-token                     near    -           snowflake  (?:eyJ[\w.-]{100,1000}|[A-Za-z0-9+/]{100,400}={0,2})  Snowflake programmatic access token or password
https://help.tableau.com/current/server/en-us/security_personal_access_tokens.htm
tableau-token                       marked   -           ==:  [A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}  Tableau personal access token
https://docs.confluent.io/cloud/current/security/authenticate/workload-identities/service-accounts/api-keys/overview.html
confluent-secret                    token   -           cflt  <std64>{60}  Confluent API secret
confluent-legacy-secret             near    -           confluent  <std64>{64}  Confluent API secret
https://aiven.io/docs/platform/concepts/service_credentials
aiven-password                      token   -           AVNS_  <url64>{15,32}  Aiven service password
https://aiven.io/docs/platform/concepts/authentication-tokens
aiven-token                         near    -           aiven  [A-Za-z0-9+/]{300,500}={0,2}  Aiven token
https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys
prefect-key                         token   -           pnu_,pnb_  <alnum>{36}  Prefect API key
https://www.cockroachlabs.com/docs/cockroachcloud/managing-access
cockroach-key                       token   -           CCDB1_  <alnum>{22}_<alnum>{40}  CockroachDB Cloud API key
https://docs.influxdata.com/influxdb/v2/admin/tokens/
influxdb-token                      near    -           influx  <url64>{86}==  InfluxDB token
https://www.algolia.com/doc/guides/security/api-keys/
algolia-key                         near    -           algolia  <alnum>{32}  Algolia API key
https://xata.io/docs/platform/security
xata-key                            token   -           xau_  <alnum>{32,48}  Xata API key
https://docs.fauna.com/fauna/current/learn/security/keys/
fauna-secret                        near    -           fauna  fn<url64>{38}  Fauna secret
https://docs.getdbt.com/docs/dbt-cloud-apis/authentication
dbt-token                           token   -           dbtc_,dbtu_  <url64>{32,64}  dbt Cloud token
https://docs.settlemint.com/
settlemint-token                    token    -           sm_pat_,sm_sat_,sm_aat_  <alnum>{16}  SettleMint access token
https://developer.hashicorp.com/consul/docs/security/acl/tokens
consul-token                        near    -           consul_http_token,consul_token,consul token,x-consul-token  <uuid>  Consul token
https://www.meilisearch.com/docs/reference/api/keys
meilisearch-key                     near    -           meilisearch,meili_  (?:<hex>{64}|<alnum>{40,64})  Meilisearch key
https://clickhouse.com/docs/cloud/manage/openapi
clickhouse-cloud-key                token    -           4b1d  <alnum>{38}  ClickHouse Cloud API key

# Developer tools
https://learning.postman.com/docs/developer/postman-api/authentication/
postman-key                         token   -           PMAK-  <hex>{24}-<hex>{34}  Postman API key
https://circleci.com/docs/managing-api-tokens/
circleci-token                      token   -           CCIPAT_,CCIPRJ_  <alnum>{22}_<hex>{40}  CircleCI token
circleci-legacy-token               near    -           circleci,circle_token,circle-token  <hex>{40}  CircleCI token
https://developer.harness.io/docs/platform/automation/api/add-and-manage-api-keys/
harness-token                       whole    -           pat.,sat.  (?:pat|sat)\.[\w-]{22}\.[a-z0-9]{24}\.[a-z0-9]{20}  Harness access token
https://buildkite.com/docs/apis/managing-api-tokens
buildkite-token                     token   -           bkua_,bkaj_,bkct_,bkat_  \w{40,64}  Buildkite API token
https://docs.travis-ci.com/user/triggering-builds/
travis-token                        near    -           travis  <url64>{22}  Travis CI token
https://docs.snyk.io/snyk-api/authentication-for-api
snyk-token                          token   -           snyk_uat.,snyk_sat.  [\w.-]{40,400}  Snyk token
snyk-legacy-token                   near    -           snyk  <uuid>  Snyk token
https://docs.sonarsource.com/sonarqube-server/user-guide/managing-tokens/
sonarqube-token                     token   -           sqp_,squ_,sqa_  [a-z0-9=_-]{40}  SonarQube token
sonar-legacy-token                  near    -           sonar  [a-z0-9=_-]{40}  SonarQube Cloud token
https://www.infracost.io/docs/
infracost-key                       token   -           ico-  <alnum>{32}  Infracost API key
https://docs.portainer.io/api/access
portainer-token                     token    -           ptr_  [A-Za-z0-9/_=+-]{40,60}  Portainer access token
https://docs.redhat.com/en/documentation/openshift_container_platform/
openshift-token                     token    -           sha256~  <url64>{43}  OpenShift user token
https://tailscale.com/kb/1085/auth-keys
tailscale-key                       token   -           tskey-  (?:auth|api|client|scim|webhook|reusable|ephemeral)-[A-Za-z0-9]{8,32}(?:-[A-Za-z0-9]{16,64})?  Tailscale key
https://docs.defined.net/apis/
defined-networking-token            token    -           dnkey-  [a-z0-9=_-]{26}-[a-z0-9=_-]{52}  Defined Networking API token
https://ngrok.com/docs/agent/#authtokens
ngrok-token                         near    -           ngrok  \d<alnum>{24,28}_\d?<alnum>{18,26}  ngrok authtoken
https://launchdarkly.com/docs/home/account/api
launchdarkly-key                    token   -           api-,sdk-  <uuid>  LaunchDarkly key
launchdarkly-legacy-token           near     -           launchdarkly  (?:<uuid>|[a-z0-9=_-]{40})  LaunchDarkly access token
https://developer.okta.com/docs/guides/create-an-api-token/main/
okta-token                          near    -           okta,ssws  00<url64>{40}  Okta API token
https://authress.io/knowledge-base/docs/authorization/service-clients/
authress-key                        whole    -           sc_,ext_,scauth_,authress_  (?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.(?:acc)[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}  Authress service client key
https://auth0.com/docs/get-started/applications/application-settings
auth0-secret                        near    -           auth0  <url64>{64}  Auth0 client secret
https://www.contentful.com/developers/docs/references/authentication/
contentful-token                    token   -           CFPAT-  <url64>{43}  Contentful management token
contentful-delivery-token           near    -           contentful  <url64>{43}  Contentful delivery token
https://airtable.com/developers/web/guides/personal-access-tokens
airtable-pat                        token   -           pat  <alnum>{14}\.<hex>{64}  Airtable personal access token
https://airtable.com/developers/web/guides/oauth-integrations
airtable-oauth-token                near     -           airtable  <alnum>{14,40}\.v1\.[\w-]{20,800}\.[0-9a-f]{5,80}  Airtable OAuth token
airtable-legacy-key                 near     -           airtable  <alnum>{17}  Airtable API key
https://www.typeform.com/developers/get-started/personal-access-token/
typeform-token                      token   -           tfp_  [\w.=-]{40,80}  Typeform token
https://docs.codecov.com/docs/codecov-tokens
codecov-token                       near    -           codecov  (?:<uuid>|[a-z0-9]{32})  Codecov token
https://www.browserstack.com/docs/automate/selenium/getting-started
browserstack-key                    near    -           browserstack  <alnum>{20}  BrowserStack access key
https://docs.saucelabs.com/basics/acct-team-mgmt/managing-user-info/
saucelabs-key                       near    -           sauce_,saucelabs,sauce labs  <uuid>  Sauce Labs access key
https://www.fastly.com/documentation/guides/account-info/account-management/using-api-tokens/
fastly-token                        near    -           fastly  <url64>{32}  Fastly API token
https://docs.mapbox.com/help/glossary/access-token/
mapbox-secret-token                 token   -           sk.eyJ  <url64>{60,200}\.<url64>{20,30}  Mapbox secret token
mapbox-legacy-token                 token    -           pk.  <alnum>{60}\.<alnum>{22}  Mapbox token
https://www.pubnub.com/docs/general/setup/account-setup
pubnub-secret-key                   token   -           sec-c-  [A-Za-z0-9-]{36,60}  PubNub secret key
https://ably.com/docs/auth
ably-key                            near    -           ably  <url64>{6}\.<url64>{6}:<url64>{43}  Ably API key
https://pusher.com/docs/channels/library_auth_reference/rest-api/
pusher-secret                       near    -           pusher  [a-z0-9]{20}  Pusher secret
https://stytch.com/docs/api
stytch-secret                       token   -           secret-live-,secret-test-  [\w=-]{36,48}  Stytch secret
https://docs.expo.dev/accounts/programmatic-access/
expo-token                          near    -           expo_token  <url64>{40}  Expo access token
https://devcenter.bitrise.io/en/accounts/personal-access-tokens.html
bitrise-token                       token   -           bitpat_,bitwat_  <url64>{32,100}  Bitrise token
https://docs.rapidapi.com/docs/keys-and-key-rotation
rapidapi-key                        marked  -           msh  <alnum>{10}msh<alnum>{15}p1<alnum>{5}jsn<alnum>{12}  RapidAPI key
https://wakatime.com/developers
wakatime-key                        token   -           waka_,waka_sec_,waka_tok_  (?:<uuid>|<alnum>{60,90})  WakaTime API key

# Work and social
https://linear.app/developers/graphql
linear-key                          token   -           lin_api_  <alnum>{32,64}  Linear API key
linear-oauth-token                  token   -           lin_oauth_  <alnum>{32,72}  Linear OAuth token
https://developers.notion.com/docs/authorization
notion-token                        token   -           ntn_  <alnum>{40,60}  Notion integration token
notion-legacy-token                 token   -           secret_  <alnum>{43}  Notion integration token
https://developers.asana.com/docs/personal-access-token
asana-pat                           marked  after-colon  /\/\d{10,20}:[0-9a-f]{8}/  [0-2]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}  Asana personal access token
https://developers.asana.com/docs/oauth
asana-secret                        near    -           asana  [a-z0-9]{32}  Asana token or client secret
https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/
atlassian-token                     token   -           ATATT3  [\w=-]{60,300}  Atlassian API token
atlassian-legacy-token              near    name        atlassian,jira,confluence  <alnum>{20,24}  Atlassian API token
https://www.figma.com/developers/api#access-tokens
figma-token                         token   -           figd_,figu_,figor_,figoh_  <url64>{36,64}  Figma token
https://developer.atlassian.com/cloud/trello/guides/rest-api/authorization/
trello-token                        token   -           ATTA  <hex>{64,72}[0-9A-F]{0,8}  Trello token
trello-key                          near    -           trello  (?:<hex>{64}|<alnum>{32})  Trello key
https://developer.monday.com/api-reference/docs/authentication
monday-token                        near    -           monday  eyJ[\w-]{10,200}\.eyJ[\w-]{10,800}\.[\w-]{40,200}  monday.com token
https://developer.zendesk.com/api-reference/introduction/security-and-auth/
zendesk-token                       near    -           zendesk  <alnum>{40}  Zendesk API token
https://developers.intercom.com/docs/build-an-integration/learn-more/authentication
intercom-token                      near    -           intercom  (?:dG9r[A-Za-z0-9+/]{40,80}={0,2}|[\w=-]{60}|[A-Za-z0-9+/]{59}=)  Intercom access token
https://developers.hubspot.com/docs/guides/apps/private-apps/overview
hubspot-token                       whole   -           pat-  pat-[a-z]{2}\d-<uuid>  HubSpot private app token
https://developer.calendly.com/how-to-authenticate-with-personal-access-tokens
calendly-token                      near    -           calendly  eyJ[\w-]{10,200}\.eyJ[\w-]{10,800}\.[\w-]{40,200}  Calendly token
https://docs.readme.com/main/reference/intro/authentication
readme-key                          token   -           rdme_  [a-z0-9]{60,80}  ReadMe API key
https://developer.frame.io/docs/getting-started/authentication
frameio-token                       token   -           fio-u-  [\w=-]{60,72}  Frame.io token
https://docs.easypost.com/docs/authentication
easypost-key                        token   -           EZAK,EZTK  <alnum>{54}  EasyPost API key
https://docs.goshippo.com/docs/guides_general/authentication/
shippo-token                        token   -           shippo_live_,shippo_test_  <hex>{40}  Shippo API token
https://developers.facebook.com/docs/facebook-login/guides/access-tokens/
facebook-token                      token   -           EAA  <alnum>{60,400}  Facebook access token
facebook-secret                     near    -           facebook,fb_app,fb_secret,meta_app  <hex>{32}  Facebook app secret
facebook-app-token                  marked   -           /\d{13,17}\|[\w-]{27}/  \d{13,17}\|[\w-]{27,40}  Facebook app token: id and secret
https://developers.facebook.com/docs/instagram-platform/
instagram-token                     token   -           IGQ  <url64>{80,400}  Instagram access token
https://docs.x.com/resources/fundamentals/authentication/overview
x-bearer-token                      token   -           AAAAAAAAAAAAAAAAAAAAA  [A-Za-z0-9%/+=]{60,150}  X (Twitter) bearer token
x-secret                            near    -           twitter  (?:<alnum>{50}|<alnum>{45}|<alnum>{35,44}|<alnum>{25}|\d{8,20}-<alnum>{30,45})  X (Twitter) key or secret
https://developers.dropbox.com/oauth-guide
dropbox-token                       token   -           sl.,sl.u.  <url64>{120,2000}  Dropbox access token
dropbox-secret                      near    -           dropbox  (?:[a-z0-9]{15}|<url64>{64})  Dropbox app secret
https://learn.microsoft.com/en-us/linkedin/shared/authentication/client-credentials-flow
linkedin-secret                     near    -           linkedin,linked_in  (?:[A-Za-z0-9]{16}|WPL_AP1\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/=]{6,12})  LinkedIn client secret
https://developer.spotify.com/documentation/web-api/concepts/apps
spotify-secret                      near    -           spotify  <hex>{32}  Spotify client secret
https://developers.strava.com/docs/authentication/
strava-secret                       near     -           strava  [a-z0-9]{40}  Strava client secret or token
https://developers.pinterest.com/docs/getting-started/connect-app/
pinterest-token                     token   -           pina_,pinr.  [\w.-]{32,400}  Pinterest token
https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/intro_oauth_and_connected_apps.htm
salesforce-token                    marked  -           /00[A-Za-z0-9]{11,16}!/  00[A-Za-z0-9]{11,16}![\w.]{80,140}  Salesforce session id
https://developer.clickup.com/docs/authentication
clickup-token                       whole   -           pk_  pk_\d{5,10}_[A-Z0-9]{32}  ClickUp token
https://coda.io/developers/apis/v1#section/Authentication
coda-token                          near    -           coda_api,coda.io,coda api,coda token  <uuid>  Coda API token
https://duffel.com/docs/api/overview/authentication
duffel-token                        token   -           duffel_test_,duffel_live_  [\w=-]{43}  Duffel token
https://pipedrive.readme.io/docs/core-api-concepts-authentication
pipedrive-token                     near    -           pipedrive  <hex>{40}  Pipedrive API token
# Tokens of any vendor
https://www.rfc-editor.org/rfc/rfc7519
jwt                                 last    jwt         eyj,ewog  (?<!\w|\w-)(?:eyJ|ewog)[\w-]{10,2000}\.[\w-]{8,8000}\.(?:[\w-]{16,2000}|[\w-]{0,200}\.[\w-]{8,400}\.[\w-]{4,8000}\.[\w-]{16,60})  JSON web token

# Places where a format keeps credentials
https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1
url-credentials                     place   url         ://  (?<=[a-z0-9]):\/\/(?<user>[^\s:/?#@"'\`<>()[\]{}|\\,]{0,100}):(?<secret>[^\s/?#@"'\`<>|\\,]{4,200})(?=@[\w[%.-])  credentials in a URL
url-token                           place   -           ://  (?<=[a-z0-9]):\/\/(?<secret>[\w.~%-]{20,255})(?=(?::|:x-oauth-basic)?@[\w[.-])  token in a URL
https://docs.npmjs.com/cli/v10/configuring-npm/npmrc#auth-related-configuration
npmrc-auth                          place   own         _auth,_password  (?<![\w.])_(?:authToken|auth|password)["']?\s{0,4}=\s{0,4}["']?(?<secret>[^\s"'$<{*;]{8,2000})  npm registry credentials
https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html
netrc-password                      place   own         machine,default  \b(?:machine\s{1,20}\S{1,255}|default)\s{1,20}login\s{1,20}\S{1,255}\s{1,20}(?:account\s{1,20}\S{1,255}\s{1,20})?password\s{1,20}(?<secret>\S{4,400})  password in .netrc
https://packaging.python.org/en/latest/specifications/pypirc/
pypirc-password                     place   own         username  (?<=\[[\w-]{1,60}\]\s{1,8}(?:repository\s{0,4}[:=]\s{0,4}\S{1,200}\s{1,8})?)username\s{0,4}[:=]\s{0,4}\S{1,200}\s{1,8}(?:repository\s{0,4}[:=]\s{0,4}\S{1,200}\s{1,8})?password\s{0,4}[:=]\s{0,4}(?<secret>\S{4,1000})  password in .pypirc
https://docs.docker.com/reference/cli/docker/login/
docker-auth                         place   docker      "auth","identitytoken","registrytoken"  "(?:auth|identitytoken|registrytoken)"\s{0,8}:\s{0,8}"(?<secret>[A-Za-z0-9+/=_.-]{8,4096})"  Docker registry credentials
https://www.rfc-editor.org/rfc/rfc7617
basic-auth                          place   pair        basic  \bbasic\s{1,4}(?<secret>[A-Za-z0-9+/_-]{8,1024}={0,2})(?![\w+/=-])  Basic credentials
https://www.rfc-editor.org/rfc/rfc6750
bearer-token                        place   value       bearer  \bbearer["']?\s{1,4}(?<secret>[\w.~+/-]{16,4096}={0,2})  bearer token
https://www.rfc-editor.org/rfc/rfc9110#field.authorization
authorization-header                place   value       authorization,x-api-key,x-auth-token,private-token,api-key,x-access-token  (?:authorization|x-api-key|x-auth-token|private-token|api-key|x-access-token)["']?\s{0,4}[:=,]\s{0,4}["'\`]?(?:(?:token|apikey|api-key|key|ssws|digest|genie[kK]ey|bot)[\s=]{1,4})?["']?(?<secret>[\w.~+/-]{16,2048}={0,2})  credentials in an Authorization header
https://curl.se/docs/manpage.html#-u
curl-credentials                    place   own         curl  \bcurl\b[^\r\n]{0,200}?\s(?:-u|--user|--proxy-user)[\s=]{0,2}["']?[^\s:"']{1,100}:(?<secret>[^\s"']{4,200})  credentials on a command line
https://dev.mysql.com/doc/refman/en/password-security-user.html
mysql-password                      command  own         mysql,mariadb  \b(?:mysql(?:dump|admin|import|sh)?|mariadb(?:-\w{1,10})?)\b[^\r\n|;&]{0,200}?\s(?:-p|--password=)["']?(?<secret>[^\s"'=-][^\s"']{3,200})  password on a command line
https://linux.die.net/man/1/sshpass
sshpass-password                    command  own         sshpass  \bsshpass\s{1,4}-p\s{0,2}["']?(?<secret>[^\s"']{4,200})  password on a command line
https://docs.docker.com/reference/cli/docker/login/
login-password                      command  own         docker login,podman login,helm registry login,redis-cli,mongosh,mongo   (?:(?:docker|podman|helm registry) login|redis-cli|mongosh|mongo )\b[^\r\n|;&]{0,200}?\s(?:-p|--password|-a|--pass)[\s=]{1,2}["']?(?<secret>[^\s"'-][^\s"']{3,200})  password on a command line
https://curl.se/docs/manpage.html#-u

# The last resort: values that only their name gives away
https://cwe.mitre.org/data/definitions/798.html
secret-assignment                   assigned  secret    pass,pwd,secret,token,key,cred,auth  <declared>\s{0,10}(?:<operator>|-(?=\s))\s{0,10}[bruf@]{0,2}\\?["'\`](?<secret>[^"'\`\s\\]{6,400})(?=\\?["'\`])  value of a password, token or key
secret-variable                     assigned  word      pass,pwd,secret,token,key,cred,auth  ["']?\]?\s{0,4}<operator>\s{0,4}(?:[|>][-+]?\s{1,20})?(?![^\s"'\`,;&<>()[\]{}\\]{0,400}[\w$][(\[])(?<secret>[^\s"'\`,;&<>()[\]{}\\]{6,400})(?![(\[{\w])  value of a password, token or key
secret-argument                     assigned  word      pass,pwd,secret,token,key,cred,auth  \w{0,12}["'\`]?\s{0,4}[,(]\s{0,4}["'\`](?<secret>[^"'\`\s\\]{8,400})(?=["'\`])  password, token or key given to a function
secret-option                       assigned  option    pass,pwd,secret,token,key,cred,auth  (?<=(?:^|[\s"'\`(|])(?:--?(?:[A-Za-z]{1,20}[-_]){0,3}|(?:[A-Za-z]{1,20}[_ ]){0,3})\k<name>)[ \t]{1,4}(?:(?:is|was):?[ \t]{1,4}|:[ \t]{0,4})?["'\`]?(?<secret>[^\s"'\`,;<>()[\]{}\\]{8,400})(?![(\[{\w])  value of a password or token on a command line
secret-element                      assigned  secret    pass,pwd,secret,token,key,cred,auth  (?:["']?\s{0,2},?\s{1,40}["']?value["']?\s{0,2}[:=]\s{0,2}["']?|["'],["']value["']:["']|>(?:</key>\s{0,40}<string>)?\s{0,40}(?:\{(?:\w{1,40} ){0,3})?)(?<secret>[^\s"'<>(){}]{6,400})(?=["'<\s}]|$)  password, token or key as a value beside its name
secret-cell                         assigned  word      pass,pwd,secret,token,key,cred,auth  (?<=\|[ \t]{0,4}[*\`]{0,2}(?:[A-Za-z]{1,20}[_ -]){0,3}\k<name>)[*\`]{0,2}[ \t]{0,40}\|[ \t]{0,40}[*\`]{0,2}(?<secret>[^\s|*\`]{6,200})[*\`]{0,2}[ \t]{0,40}\|  password, token or key in a table
secret-foreign-name                 named     foreign   kennwort,contraseña,contrasena,mot de passe,senha,wachtwoord,hasło,lösenord,пароль,密码,密碼,口令,パスワード,비밀번호  (?:<keywords>)["'\`]?\s{0,4}<operator>\s{0,4}["'\`]?(?<secret>[^\s"'\`,;&<>()[\]{}\\]{6,400})(?![(\[{\w])  value of a password
`;

/** A name, or the end of one, that means a secret: `DB_PASSWORD`, `clientSecret`, `api-key`. */
export const NAME =
  '(?:pass(?:word|wort|wd|phrase|code)?|pwd|secrets?|tokens?|cred(?:ential)?s?|auth|keys?)' +
  // Suffixes: `_value`, `1`, `_prod`.
  '(?:[_-]?(?:value|base|prod|dev|live|test|default|key|id|v?\\d{1,2}))?';
const TYPE = '[A-Za-z_][\\w.<>[\\]|?]{0,30}';

/** The patterns for the words in angle brackets. */
export const PARTS: Readonly<Record<string, string>> = {
  '<hex>': '[0-9a-f]',
  '<alnum>': '[A-Za-z0-9]',
  '<url64>': '[\\w-]',
  '<std64>': '[A-Za-z0-9+/]',
  '<uuid>': '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
  '<begin>': '-----BEGIN ',
  // An escaped `\n` and quotes around lines are part of the body.
  '<pem>': '-----(?:[^-]|-(?!----)){40,16384}(?:-----END [A-Z0-9 ]{1,40}-----)?',
  // The quotes and brackets of a name, and its declared type: `password: str`, `token string`, `key[]`.
  '<declared>': `(?:\\\\?["'\`]?(?:\\]|\\[\\])?(?:\\s{0,3}:\\s{0,3}&?(?:'static )?${TYPE})?|[ \\t]{1,4}${TYPE})`,
  // `=`, `:`, `=>`, `:=`, `::=`, `.=`, `?=`, `+=`, `==`, `!=`.
  '<operator>': '(?::{1,3}=|[.?+!|]{0,2}={1,3}|=>|:)',
};
