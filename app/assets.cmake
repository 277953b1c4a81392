# Fills the folder `destination` beside the program: fonts are copied from the folder `fonts` of the fetched
# archive; everything in assets/ and the folder shaders/ of `source` is linked, so that edits show at once.
file(MAKE_DIRECTORY "${destination}/fonts")
foreach(font IN ITEMS Roboto/Roboto-Regular.ttf Roboto/Roboto-Bold.ttf Roboto/LICENSE.txt
        Inconsolata-Medium.ttf DroidSans.ttf latex/latinmodern-math.otf latex/latinmodern-math.clm1)
  get_filename_component(folder "${destination}/fonts/${font}" DIRECTORY)
  file(COPY "${fonts}/${font}" DESTINATION "${folder}")
endforeach()

file(GLOB entries "${source}/assets/*")
list(FILTER entries EXCLUDE REGEX "/assets/fonts$")
file(GLOB own_fonts "${source}/assets/fonts/*")
foreach(entry IN LISTS entries)
  get_filename_component(name "${entry}" NAME)
  file(CREATE_LINK "${entry}" "${destination}/${name}" SYMBOLIC)
endforeach()
foreach(font IN LISTS own_fonts)
  file(COPY "${font}" DESTINATION "${destination}/fonts")
endforeach()
if(EXISTS "${source}/shaders")
  file(CREATE_LINK "${source}/shaders" "${destination}/shaders" SYMBOLIC)
endif()
