/** Nobody reads these: what a service signs its messages with. */
export const NOBODY =
  /(?:^|[.+_-])(?:no[._-]?reply|do[._-]?not[._-]?reply)(?:$|[.+_-])|^(?:bot|mailer-daemon)$/;
/** RFC 2606 and RFC 6761, and `example` under any domain. */
export const RESERVED =
  /(?:^|\.)(?:example|test|invalid|localhost|localdomain)$|(?:^|\.)example\.[a-z.]{2,12}$/;
export const NO_PERSON = /(?:^|\.)(?:noreply\.github\.com|noreply\.gitlab\.com|noreply\.codeberg\.org)$/;
/** Last parts of file and unit names that are no top level domain; of those that are both, only `.md` is taken for a file. */
export const FILE_ENDING =
  /\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp|pdf|[cm]?[jt]sx?|jsonc?|json5|ya?ml|toml|lock|css|scss|less|html?|xml|txt|csv|log|map|vue|wasm|java|kt|cpp|hpp|cs|rb|tgz|gz|tar|exe|dll|service|socket|timer|target|mount|slice|scope)$|^[^.]+\.md$/;
/** Kotlin's and Swift's labels, and the accounts of version control over ssh. */
export const LABEL = /^(?:this|super|return|break|continue|git|hg|svn)$/;

/** Country calling codes of ITU-T E.164; a region's single digits and ranges in one go. */
export const COUNTRY =
  /^(?:1|7|2(?:0|7|1[1-368]|[2346]\d|5[0-8]|9[0179])|3(?:[0-469]|5\d|7[0-8]|8[0-35-79])|4(?:[013-9]|2[013])|5(?:[1-8]|0\d|9\d)|6(?:[0-6]|7[02-9]|8[0-35-9]|9[0-2])|8(?:[1246]|5[02356]|80|86)|9(?:[0-58]|6[0-8]|7[0-79]|9[2-68]))/;

/** What regulators keep free for films and examples: NANP 555-01XX and the area 555, Ofcom's drama ranges. */
export const FICTIONAL =
  /^1?\d{3}55501\d\d$|^1?555\d{7}$|^(?:44|0)(?:7700900|2079460|1632960|1134960|1144960|1154960|1164960|1174960|1184960|1214960|1314960|1414960|1514960|1614960)\d{3}/;

export const PHONE_WORDS =
  'tel|tél|phone|telephone|téléphone|telefon|telefono|teléfono|telefone|telefoon|mobile|mobil|móvil|cell|cellphone|celular|handy|fax|whatsapp|sms|call|dial|hotline|portable|gsm|numéro|电话|手机|電話|携帯|전화';

/** Public resolvers, the number that everyone counts up when any address will do, and X.500's object identifiers. */
export const WELL_KNOWN =
  /^(?:8\.8\.8\.8|8\.8\.4\.4|1\.1\.1\.[123]|1\.0\.0\.[123]|9\.9\.9\.(?:9|10|11)|149\.112\.112\.112|208\.67\.22[02]\.22[02]|1\.2\.3\.4|4\.3\.2\.1|2\.5\.(?:4|29)\.\d{1,3})$/;
export const VERSION_BEFORE =
  /(?:(?<![a-z])(?:v|ver|version|release|rev|build|oid|section|sect|sec|chapter|clause|spec|upgrade|bump)s?['":= ._-]{0,6}|rfc ?\d{1,5},? |(?<![a-z])(?:v8|node|chrom\w{2,4}|electron|firefox|safari|edge)[ :=/]{1,3}|(?:upgrad\w{1,3}|bump\w{0,3}|v8) (?:[\w./@-]{1,30} )?to |§ ?|@[~^]?|[~^]|[<>]= ?|[a-z][/_-]|\w\/v?)$/i;
