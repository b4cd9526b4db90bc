import { looksRandom } from '../placeholder.js';
import type { Rule } from '../rule.js';
import { ALNUM, HEX, marked, near, STD64, token } from './make.js';

const DEVOPS =
  'https://learn.microsoft.com/en-us/azure/devops/organizations/accounts/use-personal-access-tokens-to-authenticate';
const KEY_SIGNATURES =
  'https://learn.microsoft.com/en-us/purview/sit-defn-azure-databricks-personal-access-token';
const SAS = 'https://learn.microsoft.com/en-us/azure/storage/common/storage-sas-overview';

export const azureRules = (): readonly Rule[] => [
  token(
    'azure-storage-key',
    'Azure storage account key',
    'https://learn.microsoft.com/en-us/azure/storage/common/storage-configure-connection-string',
    ['AccountKey=', 'accountkey='],
    `${STD64}{86}==`,
  ),
  token(
    'azure-shared-access-key',
    'Azure shared access key',
    'https://learn.microsoft.com/en-us/azure/service-bus-messaging/service-bus-sas',
    ['SharedAccessKey=', 'sharedaccesskey='],
    `${STD64}{43,86}={0,2}`,
  ),
  {
    id: 'azure-sas',
    class: 'secret',
    what: 'Azure shared access signature',
    source: SAS,
    keywords: ['sig='],
    pattern: /[?&;"'\s]sig=(?<secret>(?:[A-Za-z0-9+/_-]|%[0-9A-Fa-f]{2}){40,100}={0,2})/g,
    accept: looksRandom,
  },
  marked(
    'azure-client-secret',
    'Microsoft Entra client secret',
    'https://learn.microsoft.com/en-us/entra/identity-platform/how-to-add-credentials',
    ['7q~', '8q~', '9q~'],
    '[\\w~.-]{3}[0-9]Q~[\\w~.-]{31,34}',
  ),
  marked(
    'azure-devops-pat',
    'Azure DevOps personal access token',
    DEVOPS,
    'azdo',
    `${ALNUM}{76}AZDO${ALNUM}{4}`,
  ),
  near(
    'azure-devops-legacy-pat',
    'Azure DevOps personal access token',
    DEVOPS,
    [
      'azure devops',
      'azure-devops',
      'azure_devops',
      'azuredevops',
      'dev.azure.com',
      'visualstudio',
      'azdo',
      'ado_',
      'vsts',
    ],
    '[a-z2-7]{52}',
  ),
  marked(
    'azure-resource-key',
    'Azure resource key',
    KEY_SIGNATURES,
    'jqqj99',
    `${ALNUM}{52}JQQJ99${ALNUM}{26}`,
  ),
  marked(
    'azure-search-key',
    'Azure AI Search key',
    'https://learn.microsoft.com/en-us/azure/search/search-security-api-keys',
    'azse',
    `${ALNUM}{42}AzSe[A-D]${ALNUM}{5}`,
  ),
  marked(
    'azure-function-key',
    'Azure Functions key',
    'https://learn.microsoft.com/en-us/azure/azure-functions/function-keys-how-to',
    'azfu',
    '[\\w-]{44}AzFu[\\w-]{4,8}={0,2}',
  ),
  marked(
    'azure-container-registry-key',
    'Azure container registry password',
    'https://learn.microsoft.com/en-us/azure/container-registry/container-registry-authentication',
    '+acr',
    `${STD64}{42}\\+ACR[A-D]${ALNUM}{4,6}`,
  ),
  near(
    'azure-subscription-key',
    'Azure subscription key',
    'https://learn.microsoft.com/en-us/azure/api-management/api-management-subscriptions',
    ['ocp-apim-subscription-key', 'subscription-key', 'subscription_key', 'azure_openai', 'cognitive'],
    `${HEX}{32}`,
  ),
];
