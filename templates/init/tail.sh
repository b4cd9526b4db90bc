
# Steps of your own, each with what it is called:
#   name=database
#   step 'make the tables' make tables

say 'ready'
