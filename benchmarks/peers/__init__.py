"""How other libraries fit the models; each is imported only when it is called."""
