/**
 * Numbers that states give to persons, one per line, below the authority's page. Company numbers are not included. Columns,
 * separated by two blanks or more: id, words, form, shape, what it is. The number needs one of the words near it, unless
 * it is written in the form; `-` is no form. The words are those of the country and English ones, in lower case.
 * national-id.ts checks the number.
 */
export const NATIONAL_IDS = String.raw`
# America
https://www.ssa.gov/employer/randomization.html
us-ssn              ssn,social security,itin,taxpayer,tax id,socialsecurity  /^\d{3}-\d{2}-\d{4}$/  \d{3}([ -]?)\d{2}\1\d{4}  US social security number
https://www.irs.gov/individuals/individual-taxpayer-identification-number
us-itin             ssn,social security,itin,taxpayer,tax id,socialsecurity  /^\d{3}-\d{2}-\d{4}$/  \d{3}([ -]?)\d{2}\1\d{4}  US individual taxpayer number
https://www.canada.ca/en/employment-social-development/services/sin.html
# Phone numbers and rows of numbers have this grouping too.
ca-sin              social insurance,sin,assurance sociale  -  (?<!\d[ ]|[+]\d{1,3}[ -])[1-79]\d{2}([ -]?)\d{3}\1\d{3}(?! \d)  Canadian social insurance number
https://www.gob.mx/curp
mx-curp             curp,clave única,clave unica,population registry  /./  [A-Z][AEIOUX][A-Z]{2}\d{2}[01]\d[0-3]\d[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[A-Z\d]\d  Mexican CURP
https://www.gov.br/receitafederal/pt-br/assuntos/meu-cpf
br-cpf              cpf,contribuinte,taxpayer  /^\d{3}\.\d{3}\.\d{3}-\d{2}$/  \d{3}(\.?)\d{3}\1\d{3}-?\d{2}  Brazilian CPF
https://www.registrocivil.cl
cl-rut              rut,rol unico,rol único,cedula,cédula,chilean id  /^\d{1,2}\.\d{3}\.\d{3}-[\dKk]$/  \d{1,2}(\.?)\d{3}\1\d{3}-?[\dKk]  Chilean RUT
https://www.anses.gob.ar
ar-cuil             cuit,cuil,clave única,argentine  /-/  2[03-7](-?)\d{8}\1\d  Argentine CUIL or CUIT of a person

# Western Europe
https://www.gov.uk/hmrc-internal-manuals/national-insurance-manual/nim39110
uk-nino             nino,national insurance,ni number,ni no  / /  [A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?)\d{2}\1\d{2}\1\d{2}\1[A-D]  UK national insurance number
https://www.datadictionary.nhs.uk/attributes/nhs_number.html
uk-nhs              nhs,national health  -  \d{3}([ -]?)\d{3}\1\d{4}  NHS number
https://www.bzst.de/DE/Privatpersonen/SteuerlicheIdentifikationsnummer/steuerlicheidentifikationsnummer_node.html
de-steuer-id        steuer,steuerid,steuerliche,steueridentifikationsnummer,identifikationsnummer,idnr,tin,tax id,tax  -  [1-9]\d( ?)\d{3}\1\d{3}\1\d{3}  German tax id of a person
https://www.insee.fr/fr/metadonnees/definition/c1409
fr-nir              nir,insee,sécurité sociale,securite sociale,sécu,secu,numéro de sécu,social security,carte vitale  /^\S \d\d \d\d \S\S \d{3} \d{3}/  [12]( ?)\d{2}\1(?:0[1-9]|1[0-2]|20)\1(?:\d{2}|2[AB])\1\d{3}\1\d{3}[ ]?\d{2}  French social security number
https://www.rvig.nl/burgerservicenummer
nl-bsn              bsn,burgerservicenummer,sofinummer,sofi,citizen service  -  \d{4}[ .]?\d{2}[ .]?\d{2,3}  Dutch BSN
https://www.ibz.rrn.fgov.be/fr/registre-national/
be-national-number  rijksregister,registre national,rijksregisternummer,insz,niss,national number,rrn  /-/  (?:\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}|\d{11})  Belgian national number
https://www.zas.admin.ch/de/aufbau-der-ahv-nummer
ch-ahv              ahv,avs,oasi,sozialversicherungsnummer,social insurance  /[. ]/  756([. ]?)\d{4}\1\d{4}\1\d{2}  Swiss AHV number
https://www.sozialversicherung.at
at-svnr             svnr,sozialversicherung,sozialversicherungsnummer,sv nummer,sv nr,versicherungsnummer,social insurance  -  [1-9]\d{3}[ -]?\d{6}  Austrian social insurance number
https://www.gov.ie/en/service/12e6de-get-a-personal-public-service-pps-number/
ie-pps              pps,ppsn,personal public service  -  \d{7}[A-W][A-IW]?  Irish PPS number

# Southern Europe, Turkey, South Africa
https://www.interior.gob.es/opencms/es/servicios-al-ciudadano/tramites-y-gestiones/dni
es-dni              dni,nie,nif,documento nacional,identidad,spanish id,national id,identity  /\..*[- ]/  (?:\d{2}\.?\d{3}\.?\d{3}|[XYZ]-?\d{7})[ -]?[A-HJ-NP-TV-Z]  Spanish DNI or NIE
https://www.agenziaentrate.gov.it/portale/web/guest/schede/istanze/richiesta-ts_cf
it-codice-fiscale   codice fiscale,fiscal code,tax code  /./  (?:[A-Z]{6}[\dLMNP-V]{2}[A-EHLMPRST][\dLMNP-V]{2}[A-Z][\dLMNP-V]{3}[A-Z]|[A-Z]{3} [A-Z]{3} [\dLMNP-V]{2}[A-EHLMPRST][\dLMNP-V]{2} [A-Z][\dLMNP-V]{3}[A-Z])  Italian codice fiscale
https://www.portaldasfinancas.gov.pt
pt-nif              nif,contribuinte,número fiscal,numero fiscal,tax number  -  (?:[1-3]\d{2}|45\d)( ?)\d{3}\1\d{3}  Portuguese NIF of a person
https://sfr.gov.ru/grazhdanam/snils/
ru-snils            snils,снилс,pension insurance  /-/  \d{3}-\d{3}-\d{3}[ -]\d{2}  Russian SNILS
https://www.nvi.gov.tr
tr-tckn             tckn,kimlik,t.c.,tc,turkish id,turkish identity  -  [1-9]\d{10}  Turkish identity number
https://www.dha.gov.za
za-id               identity,south african id,sa id,rsa id,id number,identiteitsnommer,national id,id no  -  \d{6}[ ]?\d{4}[ ]?[0-2]\d{2}  South African identity number

# Northern and eastern Europe
https://www.skatteverket.se/privat/folkbokforing/personnummer
# A date of these years with four digits after it is rather a timestamp or a serial number.
se-personnummer     personnummer,personnr,pnr,personal identity,personal number,samordningsnummer  /^(?:(?:19|200)\d{5,7}|(?!2|3[0-5])\d{6})[-+]\d{4}$/  (?:18|19|20)?\d{4}[0-9]\d[-+]?\d{4}  Swedish personal number
https://www.skatteetaten.no/en/person/national-registry/identitetsnummer/
no-fodselsnummer    fødselsnummer,fodselsnummer,fnr,personnummer,d-nummer,national id,national identity  -  [0-7]\d{5}[ ]?\d{5}  Norwegian national identity number
https://cpr.dk/cpr-systemet/opbygning-af-cpr-nummeret
dk-cpr              cpr,personnummer,cprnr  -  [0-3]\d[01]\d{3}-?\d{4}  Danish CPR number
https://dvv.fi/en/personal-identity-code
# 260131-1234 may be a timestamp. A letter, or a first pair that is not a current year, makes it certain.
fi-hetu             hetu,henkilötunnus,personbeteckning,personal identity,finnish id  /^\d{6}[-+A-FU-Y].*[A-Y]$|^(?!2|3)\d{6}[-+]/  [0-3]\d[01]\d{3}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]  Finnish personal identity code
https://www.gov.pl/web/gov/czym-jest-numer-pesel
pl-pesel            pesel  -  \d{11}  Polish PESEL

# Asia and Oceania
https://uidai.gov.in/en/my-aadhaar/about-your-aadhaar.html
# Four groups are a card. Rows of years are not ids.
in-aadhaar          aadhaar,aadhar,uidai,uid,आधार  -  (?<!\d[ -])(?!(?:(?:19|20)\d\d ?){3})[2-9]\d{3}([ -]?)\d{4}\1\d{4}(?![ -]\d)  Indian Aadhaar number
https://incometaxindia.gov.in/Pages/tax-services/pan.aspx
in-pan              pan,permanent account,income tax  -  [A-Z]{3}P[A-Z]\d{4}[A-Z]  Indian permanent account number of a person
https://openstd.samr.gov.cn/bzgk/gb/newGbInfo?hcno=080D6FBF2BB468F9007657F26D60013E
cn-resident-id      身份证,身份證,公民身份号码,resident id,resident identity,chinese id,identity card,id card,shenfenzheng  -  (?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3])\d{4}(?:18|19|20)\d{2}[01]\d[0-3]\d{4}[\dXx]  Chinese resident identity number
https://www.digital.go.jp/policies/mynumber
jp-my-number        マイナンバー,個人番号,my number,mynumber,individual number  -  \d{4}([ -]?)\d{4}\1\d{4}  Japanese individual number
https://www.mois.go.kr
kr-rrn              주민등록번호,주민번호,rrn,resident registration  /-/  \d{2}[01]\d[0-3]\d-?[1-8]\d{6}  South Korean resident registration number
https://www.ris.gov.tw
tw-id               身分證,身份證,統一編號,統一證號,taiwan,national id,identity,arc  -  [A-Z][1289A-D]\d{8}  Taiwanese identity or resident number
https://www.immd.gov.hk/eng/services/hkid/general_info.html
hk-id               hkid,hong kong,identity card,身份證,身分證  /\)$/  [A-Z]{1,2}\d{6}(?:\([\dA]\)|[\dA])  Hong Kong identity card number
https://www.ica.gov.sg
sg-nric             nric,fin,singapore,identity card,identity  -  [STFGM]\d{7}[A-Z]  Singapore NRIC or FIN
https://www.ato.gov.au/individuals-and-families/tax-file-number
au-tfn              tfn,tax file  -  \d{3}([ -]?)\d{3}\1\d{2,3}  Australian tax file number
https://www.servicesaustralia.gov.au/medicare-card
au-medicare         medicare  -  [2-6]\d{3}([ -]?)\d{5}\1\d(?:[ /-]?\d)?  Australian Medicare card number
https://www.gov.il/en/departments/population_and_immigration_authority
il-id               תעודת זהות,ת"ז,ת.ז,teudat zehut,israeli id,israel id,zehut  -  \d{8}-?\d  Israeli identity number

# Any country
https://www.icao.int/publications/doc-series/doc-9303
passport            passport,passeport,reisepass,pasaporte,passaporto,paspoort,passaporte,护照  -  (?:[A-Z]{1,2}\d{6,8}|\d{8,9}|\d{2}[A-Z]{2}\d{5}|[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8})  passport number
`;
