/** A national id as its authority describes it. national-id.ts checks the number. */
export interface NationalId {
  id: string;
  what: string;
  /** The authority's page. */
  source: string;
  /** The pattern of the number, from its first to its last character. */
  shape: string;
  /** In the languages of the country and in English, lower case. The number needs one of them near it … */
  words: readonly string[];
  /** … unless it is written in this form. */
  formatted?: RegExp;
}

/** Numbers that states give to persons. Company numbers are not included. */
export const NATIONAL_IDS: readonly NationalId[] = [
  // America
  {
    id: 'us-ssn',
    what: 'US social security number',
    source: 'https://www.ssa.gov/employer/randomization.html',
    shape: String.raw`\d{3}([ -]?)\d{2}\1\d{4}`,
    words: ['ssn', 'social security', 'itin', 'taxpayer', 'tax id', 'socialsecurity'],
    formatted: /^\d{3}-\d{2}-\d{4}$/,
  },
  {
    id: 'us-itin',
    what: 'US individual taxpayer number',
    source: 'https://www.irs.gov/individuals/individual-taxpayer-identification-number',
    shape: String.raw`\d{3}([ -]?)\d{2}\1\d{4}`,
    words: ['ssn', 'social security', 'itin', 'taxpayer', 'tax id', 'socialsecurity'],
    formatted: /^\d{3}-\d{2}-\d{4}$/,
  },
  {
    id: 'ca-sin',
    what: 'Canadian social insurance number',
    source: 'https://www.canada.ca/en/employment-social-development/services/sin.html',
    // Phone numbers and rows of numbers have this grouping too.
    shape: String.raw`(?<!\d[ ]|[+]\d{1,3}[ -])[1-79]\d{2}([ -]?)\d{3}\1\d{3}(?! \d)`,
    words: ['social insurance', 'sin', 'assurance sociale'],
  },
  {
    id: 'mx-curp',
    what: 'Mexican CURP',
    source: 'https://www.gob.mx/curp',
    shape: String.raw`[A-Z][AEIOUX][A-Z]{2}\d{2}[01]\d[0-3]\d[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[A-Z\d]\d`,
    words: ['curp', 'clave única', 'clave unica', 'population registry'],
    formatted: /./,
  },
  {
    id: 'br-cpf',
    what: 'Brazilian CPF',
    source: 'https://www.gov.br/receitafederal/pt-br/assuntos/meu-cpf',
    shape: String.raw`\d{3}(\.?)\d{3}\1\d{3}-?\d{2}`,
    words: ['cpf', 'contribuinte', 'taxpayer'],
    formatted: /^\d{3}\.\d{3}\.\d{3}-\d{2}$/,
  },
  {
    id: 'cl-rut',
    what: 'Chilean RUT',
    source: 'https://www.registrocivil.cl',
    shape: String.raw`\d{1,2}(\.?)\d{3}\1\d{3}-?[\dKk]`,
    words: ['rut', 'rol unico', 'rol único', 'cedula', 'cédula', 'chilean id'],
    formatted: /^\d{1,2}\.\d{3}\.\d{3}-[\dKk]$/,
  },
  {
    id: 'ar-cuil',
    what: 'Argentine CUIL or CUIT of a person',
    source: 'https://www.anses.gob.ar',
    shape: String.raw`2[03-7](-?)\d{8}\1\d`,
    words: ['cuit', 'cuil', 'clave única', 'argentine'],
    formatted: /-/,
  },

  // Western Europe
  {
    id: 'uk-nino',
    what: 'UK national insurance number',
    source: 'https://www.gov.uk/hmrc-internal-manuals/national-insurance-manual/nim39110',
    shape: String.raw`[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?)\d{2}\1\d{2}\1\d{2}\1[A-D]`,
    words: ['nino', 'national insurance', 'ni number', 'ni no'],
    formatted: / /,
  },
  {
    id: 'uk-nhs',
    what: 'NHS number',
    source: 'https://www.datadictionary.nhs.uk/attributes/nhs_number.html',
    shape: String.raw`\d{3}([ -]?)\d{3}\1\d{4}`,
    words: ['nhs', 'national health'],
  },
  {
    id: 'de-steuer-id',
    what: 'German tax id of a person',
    source:
      'https://www.bzst.de/DE/Privatpersonen/SteuerlicheIdentifikationsnummer/steuerlicheidentifikationsnummer_node.html',
    shape: String.raw`[1-9]\d( ?)\d{3}\1\d{3}\1\d{3}`,
    words: [
      'steuer',
      'steuerid',
      'steuerliche',
      'steueridentifikationsnummer',
      'identifikationsnummer',
      'idnr',
      'tin',
      'tax id',
      'tax',
    ],
  },
  {
    id: 'fr-nir',
    what: 'French social security number',
    source: 'https://www.insee.fr/fr/metadonnees/definition/c1409',
    shape: String.raw`[12]( ?)\d{2}\1(?:0[1-9]|1[0-2]|20)\1(?:\d{2}|2[AB])\1\d{3}\1\d{3}[ ]?\d{2}`,
    words: [
      'nir',
      'insee',
      'sécurité sociale',
      'securite sociale',
      'sécu',
      'secu',
      'numéro de sécu',
      'social security',
      'carte vitale',
    ],
    formatted: /^\S \d\d \d\d \S\S \d{3} \d{3}/,
  },
  {
    id: 'nl-bsn',
    what: 'Dutch BSN',
    source: 'https://www.rvig.nl/burgerservicenummer',
    shape: String.raw`\d{4}[ .]?\d{2}[ .]?\d{2,3}`,
    words: ['bsn', 'burgerservicenummer', 'sofinummer', 'sofi', 'citizen service'],
  },
  {
    id: 'be-national-number',
    what: 'Belgian national number',
    source: 'https://www.ibz.rrn.fgov.be/fr/registre-national/',
    shape: String.raw`(?:\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}|\d{11})`,
    words: [
      'rijksregister',
      'registre national',
      'rijksregisternummer',
      'insz',
      'niss',
      'national number',
      'rrn',
    ],
    formatted: /-/,
  },
  {
    id: 'ch-ahv',
    what: 'Swiss AHV number',
    source: 'https://www.zas.admin.ch/de/aufbau-der-ahv-nummer',
    shape: String.raw`756([. ]?)\d{4}\1\d{4}\1\d{2}`,
    words: ['ahv', 'avs', 'oasi', 'sozialversicherungsnummer', 'social insurance'],
    formatted: /[. ]/,
  },
  {
    id: 'at-svnr',
    what: 'Austrian social insurance number',
    source: 'https://www.sozialversicherung.at',
    shape: String.raw`[1-9]\d{3}[ -]?\d{6}`,
    words: [
      'svnr',
      'sozialversicherung',
      'sozialversicherungsnummer',
      'sv nummer',
      'sv nr',
      'versicherungsnummer',
      'social insurance',
    ],
  },
  {
    id: 'ie-pps',
    what: 'Irish PPS number',
    source: 'https://www.gov.ie/en/service/12e6de-get-a-personal-public-service-pps-number/',
    shape: String.raw`\d{7}[A-W][A-IW]?`,
    words: ['pps', 'ppsn', 'personal public service'],
  },

  // Southern Europe, Turkey, South Africa
  {
    id: 'es-dni',
    what: 'Spanish DNI or NIE',
    source: 'https://www.interior.gob.es/opencms/es/servicios-al-ciudadano/tramites-y-gestiones/dni',
    shape: String.raw`(?:\d{2}\.?\d{3}\.?\d{3}|[XYZ]-?\d{7})[ -]?[A-HJ-NP-TV-Z]`,
    words: ['dni', 'nie', 'nif', 'documento nacional', 'identidad', 'spanish id', 'national id', 'identity'],
    formatted: /\..*[- ]/,
  },
  {
    id: 'it-codice-fiscale',
    what: 'Italian codice fiscale',
    source: 'https://www.agenziaentrate.gov.it/portale/web/guest/schede/istanze/richiesta-ts_cf',
    shape: `(?:[A-Z]{6}[\\dLMNP-V]{2}[A-EHLMPRST][\\dLMNP-V]{2}[A-Z][\\dLMNP-V]{3}[A-Z]|[A-Z]{3} [A-Z]{3} [\\dLMNP-V]{2}[A-EHLMPRST][\\dLMNP-V]{2} [A-Z][\\dLMNP-V]{3}[A-Z])`,
    words: ['codice fiscale', 'fiscal code', 'tax code'],
    formatted: /./,
  },
  {
    id: 'pt-nif',
    what: 'Portuguese NIF of a person',
    source: 'https://www.portaldasfinancas.gov.pt',
    shape: String.raw`(?:[1-3]\d{2}|45\d)( ?)\d{3}\1\d{3}`,
    words: ['nif', 'contribuinte', 'número fiscal', 'numero fiscal', 'tax number'],
  },
  {
    id: 'ru-snils',
    what: 'Russian SNILS',
    source: 'https://sfr.gov.ru/grazhdanam/snils/',
    shape: String.raw`\d{3}-\d{3}-\d{3}[ -]\d{2}`,
    words: ['snils', 'снилс', 'pension insurance'],
    formatted: /-/,
  },
  {
    id: 'tr-tckn',
    what: 'Turkish identity number',
    source: 'https://www.nvi.gov.tr',
    shape: String.raw`[1-9]\d{10}`,
    words: ['tckn', 'kimlik', 't.c.', 'tc', 'turkish id', 'turkish identity'],
  },
  {
    id: 'za-id',
    what: 'South African identity number',
    source: 'https://www.dha.gov.za',
    shape: String.raw`\d{6}[ ]?\d{4}[ ]?[0-2]\d{2}`,
    words: [
      'identity',
      'south african id',
      'sa id',
      'rsa id',
      'id number',
      'identiteitsnommer',
      'national id',
      'id no',
    ],
  },

  // Northern and eastern Europe
  {
    id: 'se-personnummer',
    what: 'Swedish personal number',
    source: 'https://www.skatteverket.se/privat/folkbokforing/personnummer',
    shape: String.raw`(?:18|19|20)?\d{4}[0-9]\d[-+]?\d{4}`,
    words: ['personnummer', 'personnr', 'pnr', 'personal identity', 'personal number', 'samordningsnummer'],
    // A date of these years with four digits after it is rather a timestamp or a serial number.
    formatted: /^(?:(?:19|200)\d{5,7}|(?!2|3[0-5])\d{6})[-+]\d{4}$/,
  },
  {
    id: 'no-fodselsnummer',
    what: 'Norwegian national identity number',
    source: 'https://www.skatteetaten.no/en/person/national-registry/identitetsnummer/',
    shape: String.raw`[0-7]\d{5}[ ]?\d{5}`,
    words: [
      'fødselsnummer',
      'fodselsnummer',
      'fnr',
      'personnummer',
      'd-nummer',
      'national id',
      'national identity',
    ],
  },
  {
    id: 'dk-cpr',
    what: 'Danish CPR number',
    source: 'https://cpr.dk/cpr-systemet/opbygning-af-cpr-nummeret',
    shape: String.raw`[0-3]\d[01]\d{3}-?\d{4}`,
    words: ['cpr', 'personnummer', 'cprnr'],
  },
  {
    id: 'fi-hetu',
    what: 'Finnish personal identity code',
    source: 'https://dvv.fi/en/personal-identity-code',
    shape: String.raw`[0-3]\d[01]\d{3}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]`,
    words: ['hetu', 'henkilötunnus', 'personbeteckning', 'personal identity', 'finnish id'],
    // 260131-1234 may be a timestamp. A letter, or a first pair that is not a current year, makes it certain.
    formatted: /^\d{6}[-+A-FU-Y].*[A-Y]$|^(?!2|3)\d{6}[-+]/,
  },
  {
    id: 'pl-pesel',
    what: 'Polish PESEL',
    source: 'https://www.gov.pl/web/gov/czym-jest-numer-pesel',
    shape: String.raw`\d{11}`,
    words: ['pesel'],
  },

  // Asia and Oceania
  {
    id: 'in-aadhaar',
    what: 'Indian Aadhaar number',
    source: 'https://uidai.gov.in/en/my-aadhaar/about-your-aadhaar.html',
    // Four groups are a card. Rows of years are not ids.
    shape: String.raw`(?<!\d[ -])(?!(?:(?:19|20)\d\d ?){3})[2-9]\d{3}([ -]?)\d{4}\1\d{4}(?![ -]\d)`,
    words: ['aadhaar', 'aadhar', 'uidai', 'uid', 'आधार'],
  },
  {
    id: 'in-pan',
    what: 'Indian permanent account number of a person',
    source: 'https://incometaxindia.gov.in/Pages/tax-services/pan.aspx',
    shape: String.raw`[A-Z]{3}P[A-Z]\d{4}[A-Z]`,
    words: ['pan', 'permanent account', 'income tax'],
  },
  {
    id: 'cn-resident-id',
    what: 'Chinese resident identity number',
    source: 'https://openstd.samr.gov.cn/bzgk/gb/newGbInfo?hcno=080D6FBF2BB468F9007657F26D60013E',
    shape: String.raw`(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3])\d{4}(?:18|19|20)\d{2}[01]\d[0-3]\d{4}[\dXx]`,
    words: [
      '身份证',
      '身份證',
      '公民身份号码',
      'resident id',
      'resident identity',
      'chinese id',
      'identity card',
      'id card',
      'shenfenzheng',
    ],
  },
  {
    id: 'jp-my-number',
    what: 'Japanese individual number',
    source: 'https://www.digital.go.jp/policies/mynumber',
    shape: String.raw`\d{4}([ -]?)\d{4}\1\d{4}`,
    words: ['マイナンバー', '個人番号', 'my number', 'mynumber', 'individual number'],
  },
  {
    id: 'kr-rrn',
    what: 'South Korean resident registration number',
    source: 'https://www.mois.go.kr',
    shape: String.raw`\d{2}[01]\d[0-3]\d-?[1-8]\d{6}`,
    words: ['주민등록번호', '주민번호', 'rrn', 'resident registration'],
    formatted: /-/,
  },
  {
    id: 'tw-id',
    what: 'Taiwanese identity or resident number',
    source: 'https://www.ris.gov.tw',
    shape: String.raw`[A-Z][1289A-D]\d{8}`,
    words: ['身分證', '身份證', '統一編號', '統一證號', 'taiwan', 'national id', 'identity', 'arc'],
  },
  {
    id: 'hk-id',
    what: 'Hong Kong identity card number',
    source: 'https://www.immd.gov.hk/eng/services/hkid/general_info.html',
    shape: String.raw`[A-Z]{1,2}\d{6}(?:\([\dA]\)|[\dA])`,
    words: ['hkid', 'hong kong', 'identity card', '身份證', '身分證'],
    formatted: /\)$/,
  },
  {
    id: 'sg-nric',
    what: 'Singapore NRIC or FIN',
    source: 'https://www.ica.gov.sg',
    shape: String.raw`[STFGM]\d{7}[A-Z]`,
    words: ['nric', 'fin', 'singapore', 'identity card', 'identity'],
  },
  {
    id: 'au-tfn',
    what: 'Australian tax file number',
    source: 'https://www.ato.gov.au/individuals-and-families/tax-file-number',
    shape: String.raw`\d{3}([ -]?)\d{3}\1\d{2,3}`,
    words: ['tfn', 'tax file'],
  },
  {
    id: 'au-medicare',
    what: 'Australian Medicare card number',
    source: 'https://www.servicesaustralia.gov.au/medicare-card',
    shape: String.raw`[2-6]\d{3}([ -]?)\d{5}\1\d(?:[ /-]?\d)?`,
    words: ['medicare'],
  },
  {
    id: 'il-id',
    what: 'Israeli identity number',
    source: 'https://www.gov.il/en/departments/population_and_immigration_authority',
    shape: String.raw`\d{8}-?\d`,
    words: ['תעודת זהות', 'ת"ז', 'ת.ז', 'teudat zehut', 'israeli id', 'israel id', 'zehut'],
  },
  // Any country
  {
    id: 'passport',
    what: 'passport number',
    source: 'https://www.icao.int/publications/doc-series/doc-9303',
    shape: String.raw`(?:[A-Z]{1,2}\d{6,8}|\d{8,9}|\d{2}[A-Z]{2}\d{5}|[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8})`,
    words: [
      'passport',
      'passeport',
      'reisepass',
      'pasaporte',
      'passaporto',
      'paspoort',
      'passaporte',
      '护照',
    ],
  },
];
